/* What can be said about a pod from the pod alone. */
#include "model/pod.h"

#include "base/str.h"
#include "model/names.h"

bool pod_is_terminal(const struct pod *p)
{
	return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
}

static bool term_covers(const struct neighbour_term *t, const struct pod *owner, const char *ns)
{
	return t->all_namespaces || texts_have(t->namespaces, t->namespace_count, ns) ||
	       (t->namespace_count == 0 && text_equals(owner->ns, ns));
}

bool neighbour_matches(
	const struct neighbour_term *t, const struct pod *owner, const struct pod *other)
{
	return t->pods.present && term_covers(t, owner, other->ns) &&
	       selector_matches(&t->pods, &other->labels);
}

bool pod_has_neighbours(const struct pod *p, enum neighbour_kind kind)
{
	for (uint32_t i = 0; i < p->neighbour_count; i++) {
		if (p->neighbours[i].kind == kind) {
			return true;
		}
	}
	return false;
}

bool pod_looks_far(const struct pod *p)
{
	for (uint32_t i = 0; i < p->neighbour_count; i++) {
		if (p->neighbours[i].kind != NEIGHBOUR_APART || p->neighbours[i].key != NULL) {
			return true;
		}
	}
	return false;
}

static bool keeps_away(const struct pod *owner, const struct pod *other)
{
	for (uint32_t i = 0; i < owner->neighbour_count; i++) {
		const struct neighbour_term *t = &owner->neighbours[i];
		if (t->kind == NEIGHBOUR_APART && t->key == NULL &&
			neighbour_matches(t, owner, other)) {
			return true;
		}
	}
	return false;
}

bool pods_keep_apart(const struct pod *a, const struct pod *b)
{
	return keeps_away(a, b) || keeps_away(b, a);
}

bool pod_has_gate(const struct pod *p, const char *gate)
{
	return texts_have(p->gates, p->gate_count, gate);
}

bool pod_is_tenant(const struct pod *p)
{
	return text_equals(pairs_get(&p->labels, LABEL_TENANT), "true");
}

bool pod_is_capacity(const struct pod *p)
{
	return text_equals(p->ns, NAME_NAMESPACE) &&
	       text_equals(pairs_get(&p->labels, LABEL_CAPACITY), "true");
}

bool pod_is_probe(const struct pod *p)
{
	return text_equals(p->ns, NAME_NAMESPACE) && pairs_get(&p->labels, LABEL_PROBE) != NULL &&
	       !pod_is_capacity(p);
}

bool pod_is_agent(const struct pod *p, const char *ns)
{
	bool there = ns != NULL ? text_equals(p->ns, ns)
				: text_equals(p->ns, NAME_NAMESPACE) ||
					  text_equals(p->ns, NAME_AGENT_HOME);
	return there && text_equals(pairs_get(&p->labels, LABEL_AGENT), "true");
}

bool pod_has_own_key(const struct pod *p)
{
	return text_equals(pairs_get(&p->labels, LABEL_AGENT_KEY), "own");
}

bool pod_is_mps(const struct pod *p)
{
	return text_equals(pairs_get(&p->notes, NOTE_ISOLATION), ISOLATION_MPS_TEXT);
}

bool pod_lost_mps(const struct pod *p)
{
	return text_equals(pairs_get(&p->notes, NOTE_ISOLATION), ISOLATION_NONE_TEXT);
}

/* Lt and Gt, where the cluster has them, compare the taint's number with the toleration's. */
static bool tolerates_value(const struct toleration *t, const char *value)
{
	bool less = text_equals(t->operator, "Lt");
	int64_t bound, have;
	if (text_empty(t->operator) || text_equals(t->operator, "Equal")) {
		return text_equals(text_or(t->value, ""), text_or(value, ""));
	}
	return (less || text_equals(t->operator, "Gt")) &&
	       parse_i64(view_of(text_or(t->value, "")), INT64_MIN, INT64_MAX, &bound) &&
	       parse_i64(view_of(text_or(value, "")), INT64_MIN, INT64_MAX, &have) &&
	       (less ? have < bound : have > bound);
}

bool pod_tolerates(const struct pod *p, const char *key, const char *value, const char *effect)
{
	for (uint32_t i = 0; i < p->toleration_count; i++) {
		const struct toleration *t = &p->tolerations[i];
		bool exists = text_equals(t->operator, "Exists");
		if (!text_empty(t->effect) && !text_equals(t->effect, effect)) {
			continue;
		}
		if (text_empty(t->key)) {
			if (exists) {
				return true;
			}
			continue;
		}
		if (text_equals(t->key, key) && (exists || tolerates_value(t, value))) {
			return true;
		}
	}
	return false;
}
