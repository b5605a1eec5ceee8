/* Scopes, as the API server's evaluator of pods reads them. */
#include "model/quota.h"

#include "base/str.h"

struct quota_subject quota_subject_of(const struct pod *pod)
{
	return (struct quota_subject){.priority_class = pod->priority_class,
		.has_deadline = pod->has_deadline,
		.best_effort = pod->best_effort,
		.crosses_namespaces = pod->crosses_namespaces};
}

/* Only the scope PriorityClass has operators; a pod without a class is one whose key is absent. A
 * scope of other kinds of objects, or one that is not known yet, holds for no pod. */
static bool scope_holds(const struct term *t, const struct quota_subject *s)
{
	if (text_equals(t->key, "Terminating")) {
		return s->has_deadline;
	}
	if (text_equals(t->key, "NotTerminating")) {
		return !s->has_deadline;
	}
	if (text_equals(t->key, "BestEffort")) {
		return s->best_effort;
	}
	if (text_equals(t->key, "NotBestEffort")) {
		return !s->best_effort;
	}
	if (text_equals(t->key, "CrossNamespacePodAffinity")) {
		return s->crosses_namespaces;
	}
	return text_equals(t->key, "PriorityClass") &&
	       term_matches(t, text_empty(s->priority_class) ? NULL : s->priority_class);
}

bool quota_covers(const struct quota *q, const struct quota_subject *s)
{
	for (uint32_t i = 0; i < q->scopes.count; i++) {
		if (!scope_holds(&q->scopes.items[i], s)) {
			return false;
		}
	}
	return q->bounds_gpus;
}
