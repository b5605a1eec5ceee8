/* Tenants that fit nowhere, and what asks for nodes for them. */
#ifndef TEST_UNIT_ENGINE_SCALE_BED_H
#define TEST_UNIT_ENGINE_SCALE_BED_H

#include "odd_bed.h"

struct guest {
	const char *name, *share, *zone, *product, *count;
	int64_t cpu_milli;
};

static inline struct bed scaling_bed(void)
{
	return bed_make_of(&(struct engine_config){.scale_up_ms = 10000});
}

static inline void tell_guest(struct bed *b, const struct guest *g)
{
	struct pair label[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {
		{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, g->share}, {NOTE_GPU_COUNT, g->count}};
	struct pair selector[2];
	uint32_t n = 0;
	if (g->product != NULL) {
		selector[n++] = (struct pair){"nvidia.com/gpu.product", g->product};
	}
	if (g->zone != NULL) {
		selector[n++] = (struct pair){"zone", g->zone};
	}
	const char *gate[] = {NAME_GATE};
	struct pod p = {.ns = "default",
		.name = g->name,
		.uid = g->name,
		.cpu_milli = g->cpu_milli,
		.mem_bytes = 100,
		.labels = {label, 1},
		.notes = {notes, g->count != NULL ? 3 : 2},
		.node_selector = {selector, n},
		.gates = gate,
		.gate_count = 1};
	tell_pod(b, &p);
}

/* What the last plan asks for: pods of one GPU, and of several. */
struct made {
	char name[64];
	int count, several;
	int64_t cpu_milli;
	uint32_t labels, terms;
	const struct node_term *first; /* borrowed from the plan */
};

static inline struct made made_by(const struct bed *b)
{
	struct made m = {.count = 0};
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type != ACTION_CREATE_CAPACITY || !a->unpinned) {
			continue;
		}
		cr_expect(a->companion && a->gpus > 0 && text_empty(a->node) &&
			  text_empty(a->capacity_pod));
		m.count += a->gpus == 1 ? 1 : 0;
		m.several += a->gpus > 1 ? 1 : 0;
		m.cpu_milli += a->cpu_milli;
		m.labels = a->where_labels.count;
		m.terms = a->where_count;
		m.first = a->where_terms;
		for (uint32_t i = 0; i < a->where_count; i++) {
			/* Karpenter looks at no pod that says something of names (C39). */
			cr_expect_eq(a->where_terms[i].fields.count, 0);
		}
		snprintf(m.name, sizeof m.name, "%s", a->name);
	}
	return m;
}

static inline int opened_on(const struct bed *b, const char *node)
{
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == ACTION_CREATE_CAPACITY && text_equals(a->node, node);
	}
	return n;
}

static inline struct made wait_for(struct bed *b, int64_t ms)
{
	(void)step(b, ACTION_CREATE_CAPACITY);
	b->now += ms;
	(void)step(b, ACTION_CREATE_CAPACITY);
	return made_by(b);
}

static inline int deletions(const struct bed *b)
{
	int n = 0;
	vec_for_each (const struct action, a, &b->plan.actions) {
		n += a->type == ACTION_DELETE_CAPACITY ? 1 : 0;
	}
	return n;
}

static inline void settle_all(struct bed *b)
{
	for (size_t i = 0; i < b->plan.actions.count; i++) {
		const struct action *a = &b->plan.actions.items[i];
		struct pod answer = {.uid = a->name, .resource_version = "1"};
		struct outcome o = {.pod = &answer};
		engine_settle(b->e, (struct engine_now){b->now, b->now}, a->id, &o);
	}
}

/* The API server has it; `node`: the scheduler has bound it. */
static inline void tell_standin(
	struct bed *b, const char *name, const char *node, int64_t gpus, bool deleting)
{
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = name,
		.uid = name,
		.node = node,
		.gpus = gpus,
		.priority = -5,
		.cpu_milli = 63000,
		.unschedulable = node == NULL,
		.deleting_ms = deleting ? 1000 : 0,
		.phase = node != NULL ? POD_RUNNING : POD_PENDING};
	tell_pod(b, &p);
}

static inline void tell_node_gone(struct bed *b, const char *name)
{
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_NODE, .name = name};
	engine_observe(b->e, &gone);
}

/* Of so many GPUs, with this label beside. */
static inline void tell_labelled(
	struct bed *b, const char *name, int gpus, const char *key, const char *value)
{
	struct pair labels[] = {{key, value}};
	struct node n = {.name = name,
		.labels = {labels, key != NULL ? 1 : 0},
		.ready = true,
		.cpu_milli = 64000,
		.mem_bytes = INT64_C(1) << 40,
		.pod_slots = 110,
		.gpus = gpus};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(b->e, &set);
}

#endif
