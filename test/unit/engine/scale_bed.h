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

struct made {
	char name[64];
	int count, companions;
	int64_t cpu_milli;
	uint32_t labels, terms, fields;
};

/* What the last plan creates. */
static inline struct made made_by(const struct bed *b)
{
	struct made m = {.count = 0};
	vec_for_each (const struct action, a, &b->plan.actions) {
		if (a->type != ACTION_CREATE_CAPACITY) {
			continue;
		}
		m.companions += a->companion ? 1 : 0;
		m.cpu_milli += a->cpu_milli;
		if (!a->companion) {
			cr_expect(a->unpinned && text_empty(a->node));
			m.count++;
			m.labels = a->where_labels.count;
			m.terms = a->where_count;
			m.fields = a->where_count > 0 ? a->where_terms[0].fields.count : 0;
			snprintf(m.name, sizeof m.name, "%s", a->name);
		}
	}
	return m;
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

/* The API server has it; `node`: the scheduler has bound it, `uuid`: it has told its GPU. */
static inline void tell_asking(struct bed *b, const char *name, const char *node, const char *uuid)
{
	struct pair label[] = {{LABEL_CAPACITY, "true"}};
	struct gpu_identity id = {.mem_mib = USABLE};
	snprintf(id.uuid, sizeof id.uuid, "%s", uuid != NULL ? uuid : "");
	struct pod p = {.ns = NAME_NAMESPACE,
		.name = name,
		.uid = name,
		.node = node,
		.gpus = 1,
		.unschedulable = node == NULL,
		.phase = uuid != NULL ? POD_RUNNING : POD_PENDING,
		.labels = {label, 1},
		.identity = uuid != NULL ? &id : NULL,
		.holds = uuid != NULL};
	tell_pod(b, &p);
}

#endif
