/* Running tenants with an owner and a priority, for the tests of what is evicted. */
#ifndef TEST_UNIT_ENGINE_EVICT_BED_H
#define TEST_UNIT_ENGINE_EVICT_BED_H

#include "odd_bed.h"

struct tenant {
	const char *name;		/* its uid too */
	const char *owner_kind, *owner; /* NULL: a bare pod */
	const char *milli;		/* "700" */
	const char *mib;		/* NULL: 1000 */
	int32_t priority;
	const char *node; /* NULL: not bound */
	bool unschedulable, deleting;
	const char *holder, *uuid; /* NULL: c0, G0 */
};

static inline void tell_tenant(struct bed *b, const struct tenant *t)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, text_or(t->holder, "c0")},
		{NOTE_COMPUTE_MILLI, t->milli}, {NOTE_GPU_UUID, text_or(t->uuid, "G0")},
		{NOTE_MEMORY_MIB, text_or(t->mib, "1000")}};
	struct pod p = {.ns = "default",
		.name = t->name,
		.uid = t->name,
		.node = t->node,
		.priority = t->priority,
		.cpu_milli = 1000,
		.mem_bytes = 100,
		.unschedulable = t->unschedulable,
		.deleting_ms = t->deleting ? 1000 : 0,
		.grace_s = t->deleting ? 30 : 0,
		.phase = t->node != NULL ? POD_RUNNING : POD_PENDING,
		.labels = {label, 1},
		.notes = {notes, 4}};
	if (t->owner != NULL) {
		const char *api = strcmp(t->owner_kind, "Job") == 0 ? "batch/v1" : "apps/v1";
		p.owner = (struct owner){api, t->owner_kind, "owner", t->owner};
	}
	tell_pod(b, &p);
}

static inline void tell_reach(struct bed *b, bool reached)
{
	struct change c = {.type = CHANGE_REACH, .reached = reached};
	engine_observe(b->e, &c);
}

static inline void settle(struct bed *b, uint64_t id, int status, const char *message)
{
	struct outcome o = {.fault = {.status = status}};
	o.fault.kind = status == 0     ? FAULT_NONE
		       : status == 404 ? FAULT_NOT_FOUND
		       : status == 409 ? FAULT_CONFLICT
		       : status == 429 ? FAULT_LIMIT
		       : status >= 500 ? FAULT_TRANSIENT
				       : FAULT_DENIED;
	o.fault.unknown_outcome = status >= 500;
	snprintf(o.fault.message, sizeof o.fault.message, "%s", message);
	engine_settle(b->e, (struct engine_now){b->now, b->now}, id, &o);
}

/* Actions of this type in the last plan. */
static inline int count_of(const struct bed *b, enum action_type type)
{
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == type;
	}
	return n;
}

/* The first event of this name in the last plan; NULL: none. */
static inline const struct action *event_of(const struct bed *b, const char *name)
{
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == ACTION_EVENT &&
			text_equals(name, a->event_reason != NULL ? a->event_reason
								  : reason_name(a->reason))) {
			return a;
		}
	}
	return NULL;
}

#endif
