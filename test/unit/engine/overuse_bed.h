/* Tenants of one GPU of 80,000 MiB, what their agent measures, and policies that say what follows.
 */
#ifndef TEST_UNIT_ENGINE_OVERUSE_BED_H
#define TEST_UNIT_ENGINE_OVERUSE_BED_H

#include "base/clock.h"
#include "evict_bed.h"

#define WALL 1795000000000

struct sharer {
	const char *ns, *name; /* ns NULL: default; the name is its uid too */
	const char *mib;       /* NULL: 10000 */
	const char *policy;    /* NULL: none */
	const char *owner;     /* uid of its ReplicaSet; NULL: none */
	const char *holder;    /* "c1": it is on G1; NULL: on G0 */
	int64_t oom_ms;
	int64_t resized_ms; /* it got its share as it ran, then; 0: it did not */
	bool both;	    /* of G0 and of G1 */
	bool overuse_shown, contention_shown, deleting, failed;
};

static inline void tell_sharer(struct bed *b, const struct sharer *t)
{
	char applied[64], resized[TIME_TEXT_MAX];
	snprintf(applied, sizeof applied, "%s@1", text_or(t->policy, "builtin-default"));
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[8] = {{NOTE_CAPACITY_POD, t->both ? "c0,c1" : text_or(t->holder, "c0")},
		{NOTE_COMPUTE_MILLI, "100"},
		{NOTE_GPU_UUID, t->both		    ? "G0,G1"
				: t->holder != NULL ? "G1"
						    : "G0"},
		{NOTE_MEMORY_MIB, text_or(t->mib, "10000")}, {NOTE_POLICY_APPLIED, applied},
		{NOTE_POLICY, t->policy}, {NOTE_ISOLATION, ISOLATION_MPS_TEXT}};
	/* The mode is the pod's own from its creation on, whatever its policy says now. */
	uint32_t note_count = t->policy == NULL ? 5 : strcmp(t->policy, "walls") != 0 ? 6 : 7;
	if (t->resized_ms != 0) {
		notes[note_count++] =
			(struct pair){NOTE_RESIZED, time_format_micro(t->resized_ms, resized)};
	}
	struct pod p = {.ns = text_or(t->ns, "default"),
		.name = t->name,
		.uid = t->name,
		.node = "n0",
		.deleting_ms = t->deleting ? 1000 : 0,
		.grace_s = t->deleting ? 30 : 0,
		.phase = t->failed ? POD_FAILED : POD_RUNNING,
		.labels = {label, 1},
		.notes = {notes, note_count},
		.gpu_oom_ms = t->oom_ms,
		.told_overuse = t->overuse_shown,
		.told_contention = t->contention_shown};
	if (t->owner != NULL) {
		p.owner = (struct owner){"apps/v1", "ReplicaSet", "owner", t->owner};
	}
	tell_pod(b, &p);
}

static inline void tell_overuse_policy(
	struct bed *b, const char *name, enum memory_overuse overuse, enum isolation isolation)
{
	struct policy p = {.name = name,
		.uid = name,
		.generation = 1,
		.mode = MODE_AUTOMATE,
		.sizing.min_percent = 1,
		.sizing.max_percent = 100,
		.sizing.step_percent = 1,
		.max_tenants = 16,
		.memory_overuse = overuse,
		.isolation = isolation};
	struct change c = {.type = CHANGE_SET, .kind = KIND_POLICY, .policy = &p};
	engine_observe(b->e, &c);
}

/* What the agent of n0 says: of the device, and of up to eight tenants; -1: not known. */
struct measure {
	int64_t total, used; /* total 0: the device's memory is not told */
	int64_t age_ms;
	struct {
		const char *uid;
		int64_t mib;
	} uses[8];
};

/* The answer took so long. */
static inline void tell_late_measure(struct bed *b, const struct measure *m, int64_t late_ms)
{
	struct device_state device = {.uuid = "G0", .total_mib = m->total, .used_mib = m->used};
	const char *pods[8];
	struct pod_use uses[8];
	uint32_t n = 0;
	while (n < 8 && m->uses[n].uid != NULL) {
		pods[n] = m->uses[n].uid;
		uses[n] = (struct pod_use){m->uses[n].uid, "G0", m->uses[n].mib, 1};
		n++;
	}
	struct node_state s = {.node = "n0",
		.boot = "b",
		.sequence = b->now,
		.seen_ms = b->now - m->age_ms - late_ms,
		.seen_by_ms = b->now - m->age_ms,
		.devices = &device,
		.device_count = 1,
		.pods = pods,
		.pod_count = n,
		.uses = uses,
		.use_count = n};
	struct change c = {.type = CHANGE_SET, .kind = KIND_STATE, .state = &s};
	engine_observe(b->e, &c);
}

static inline void tell_measure(struct bed *b, const struct measure *m)
{
	tell_late_measure(b, m, 0);
}

/* The next step, so many milliseconds later. */
static inline void later(struct bed *b, int64_t ms)
{
	b->now += ms;
	engine_step(b->e, (struct engine_now){b->now, WALL + b->now}, 100000, &b->plan);
	cr_assert_null(engine_differs(b->e), "%s", engine_differs(b->e));
}

/* So many looks at the same, two seconds apart. */
static inline void look_at(struct bed *b, const struct measure *m, int looks)
{
	for (int i = 0; i < looks; i++) {
		b->now += 2000;
		tell_measure(b, m);
		later(b, 0);
	}
}

static inline struct bed overuse_bed(void)
{
	struct bed b = bed_make();
	tell_node(&b, "n0", 1, 110);
	tell_reach(&b, true);
	tell_capacity(&b, &(struct cap){"c0", "c0-uid", "G0", false, {0}});
	tell_overuse_policy(&b, "evicts", OVERUSE_EVICT, ISOLATION_NONE);
	tell_overuse_policy(&b, "reports", OVERUSE_REPORT, ISOLATION_NONE);
	tell_overuse_policy(&b, "walls", OVERUSE_EVICT, ISOLATION_MPS);
	return b;
}

/* The first one of that kind in the last plan; NULL: none. */
static inline const struct action *first_of(const struct bed *b, enum action_type type)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == type) {
			return a;
		}
	}
	return NULL;
}

static inline const struct action *condition_of_type(const struct bed *b, const char *type)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_CONDITION && text_equals(a->condition, type)) {
			return a;
		}
	}
	return NULL;
}

#endif
