/* The owner above the owner, from names alone: at admission a new ReplicaSet may not be known to
 * anyone yet, but its name and the pod's hash already are. */
#include "size/policy.h"

#include "model/names.h"

/* A CronJob's Job is called NAME-MINUTE, the minute since 1970 it was due. Between 2020 and 2060,
 * so that a Job that a person named after a date (train-20261121) is not taken for one. */
#define MINUTE_DIGITS 8
#define MINUTE_FIRST  26297280
#define MINUTE_LAST   47336400

static struct view group_of(const char *api_version)
{
	struct view rest = view_of(api_version);
	for (size_t i = 0; i < rest.n; i++) {
		if (rest.p[i] == '/') {
			return (struct view){rest.p, i};
		}
	}
	return (struct view){"", 0};
}

/* Cuts "-SUFFIX" off the end of name. */
static bool cut_suffix(struct view *name, struct view suffix)
{
	if (suffix.n == 0 || name->n < suffix.n + 2 || name->p[name->n - suffix.n - 1] != '-' ||
		memcmp(name->p + name->n - suffix.n, suffix.p, suffix.n) != 0) {
		return false;
	}
	name->n -= suffix.n + 1;
	return true;
}

static bool climb(struct owner_top *top, struct view suffix, const char *group, const char *kind)
{
	if (!cut_suffix(&top->name, suffix)) {
		return false;
	}
	top->group = view_of(group);
	top->kind = kind;
	top->guessed = true;
	return true;
}

static void climb_replica_set(struct owner_top *top, const struct pairs *labels)
{
	static const struct {
		const char *label, *group, *kind;
	} makers[] = {
		{"rollouts-pod-template-hash", "argoproj.io", "Rollout"},
		{"pod-template-hash", "apps", "Deployment"},
	};
	for (size_t i = 0; i < COUNT_OF(makers); i++) {
		struct view hash = view_of(pairs_get(labels, makers[i].label));
		if (climb(top, hash, makers[i].group, makers[i].kind)) {
			return;
		}
	}
}

static void climb_job(struct owner_top *top)
{
	if (top->name.n <= MINUTE_DIGITS) {
		return;
	}
	struct view minute = {top->name.p + top->name.n - MINUTE_DIGITS, MINUTE_DIGITS};
	int64_t value;
	if (parse_i64(minute, MINUTE_FIRST, MINUTE_LAST, &value)) {
		(void)climb(top, minute, "batch", "CronJob");
	}
}

struct owner_top admit_owner_top(const struct pod *pod)
{
	const struct owner *o = &pod->owner;
	if (text_empty(o->kind) || text_empty(o->name) || text_empty(o->api_version)) {
		return (struct owner_top){.kind = NULL};
	}
	struct owner_top top = {
		.kind = o->kind, .group = group_of(o->api_version), .name = view_of(o->name)};
	if (text_equals(o->kind, "ReplicaSet") && view_equals(top.group, "apps")) {
		climb_replica_set(&top, &pod->labels);
	} else if (text_equals(o->kind, "Job") && view_equals(top.group, "batch")) {
		climb_job(&top);
	}
	return top;
}

struct policy_subject policy_subject_of(const struct pod *pod, const struct namespace *ns)
{
	return (struct policy_subject){.labels = &pod->labels,
		.notes = &pod->notes,
		.ns = ns,
		.owner = admit_owner_top(pod)};
}
