/* What the tests that go one step at a time share: an engine, its plan, and the pods and nodes that
 * a watch tells it of. */
#ifndef TEST_UNIT_ENGINE_ODD_BED_H
#define TEST_UNIT_ENGINE_ODD_BED_H

#include <criterion/criterion.h>
#include <stdio.h>

#include "awake.h"
#include "model/names.h"

#define USABLE 80000

struct bed {
	struct engine *e;
	struct plan plan;
	int64_t now;
	int rv;
};

/* What changes when a node is started anew, and what a person says of its GPUs. */
struct started {
	const char *boot, *reset;
};

static inline void tell_started(
	struct bed *b, const char *name, int64_t gpus, int64_t slots, const struct started *started)
{
	struct node n = {.name = name,
		.boot = started->boot,
		.gpus_reset = started->reset,
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = (int64_t)1 << 40,
		.pod_slots = slots,
		.gpus = gpus};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

static inline void tell_node(struct bed *b, const char *name, int64_t gpus, int64_t slots)
{
	tell_started(b, name, gpus, slots, &(struct started){NULL, NULL});
}

static inline struct bed bed_make_of(const struct engine_config *cfg)
{
	struct engine_config checked = *cfg;
	checked.check_every = 1;
	struct bed b = {.e = engine_create(&checked, 1), .now = 1000};
	tell_sync(b.e);
	tell_lead(b.e);
	return b;
}

static inline struct bed bed_make(void)
{
	return bed_make_of(&(struct engine_config){0});
}

static inline void bed_finish(struct bed *b)
{
	engine_destroy(b->e);
	plan_finish(&b->plan);
}

static inline void tell_pod(struct bed *b, struct pod *p)
{
	char rv[16];
	snprintf(rv, sizeof rv, "%d", ++b->rv);
	p->resource_version = rv;
	pairs_sort(&p->notes);
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = p};
	engine_observe(b->e, &set);
}

static inline void tell_gone(struct bed *b, const char *ns, const char *name)
{
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_POD, .ns = ns, .name = name};
	engine_observe(b->e, &gone);
}

struct cap {
	const char *name, *uid, *uuid; /* uuid NULL: not told yet */
	bool broken;		       /* its main container does not run */
	struct ledger ledger;
};

/* `mps`: it runs that daemon. */
static inline void tell_capacity_at(struct bed *b, const struct cap *c, bool mps, const char *node)
{
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct pair mode[] = {{NOTE_ISOLATION, ISOLATION_MPS_TEXT}};
	struct gpu_identity id = {.mem_mib = USABLE};
	snprintf(id.uuid, sizeof id.uuid, "%s", c->uuid != NULL ? c->uuid : "");
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = c->name,
		.uid = c->uid,
		.node = node,
		.gpus = 1,
		.phase = c->uuid != NULL ? POD_RUNNING : POD_PENDING,
		.labels = {label, 1},
		.notes = {mode, mps ? 1 : 0},
		.identity = c->uuid != NULL ? &id : NULL,
		.holds = c->uuid != NULL && !c->broken,
		.ledger = c->ledger};
	tell_pod(b, &p);
}

static inline void tell_capacity_of(struct bed *b, const struct cap *c, bool mps)
{
	tell_capacity_at(b, c, mps, "n0");
}

static inline void tell_capacity(struct bed *b, const struct cap *c)
{
	tell_capacity_of(b, c, false);
}

static inline void tell_waiting_as(
	struct bed *b, const char *name, const char *share, const char *class)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, share}};
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.runtime_class = class,
		.cpu_milli = 10,
		.mem_bytes = 100,
		.labels = {label, 1},
		.notes = {notes, 2},
		.gates = gate,
		.gate_count = 1};
	tell_pod(b, &p);
}

static inline void tell_waiting(struct bed *b, const char *name, const char *share)
{
	tell_waiting_as(b, name, share, NULL);
}

static inline void tell_running(
	struct bed *b, const char *name, const char *holder, const char *uuid)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_CAPACITY_POD, holder}, {NOTE_COMPUTE_MILLI, "700"},
		{NOTE_GPU_UUID, uuid}, {NOTE_MEMORY_MIB, "50000"}};
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.node = "n0",
		.phase = POD_RUNNING,
		.labels = {label, 1},
		.notes = {notes, 4}};
	tell_pod(b, &p);
}

/* The first action of this type, NULL if there is none. */
static inline const struct action *step_within(
	struct bed *b, uint32_t budget, enum action_type type)
{
	engine_step(b->e, (struct engine_now){b->now, b->now}, budget, &b->plan);
	cr_assert_null(engine_differs(b->e), "%s", engine_differs(b->e));
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type == type) {
			return a;
		}
	}
	return NULL;
}

static inline const struct action *step(struct bed *b, enum action_type type)
{
	return step_within(b, 100000, type);
}

static inline void refuse(struct bed *b, const struct action *a)
{
	struct outcome o = {.fault = {.kind = FAULT_DENIED, .message = "no right to"}};
	engine_settle(b->e, (struct engine_now){b->now, b->now}, a->id, &o);
}

#endif
