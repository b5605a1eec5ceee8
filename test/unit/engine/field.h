/* Many nodes of one kind, an engine, and its plan: what the tests of large clusters share. */
#ifndef TEST_UNIT_ENGINE_FIELD_H
#define TEST_UNIT_ENGINE_FIELD_H

#include <criterion/criterion.h>
#include <stdio.h>

#include "awake.h"
#include "model/names.h"
#include "state.h"

#define NODES 80
#define GPUS  8

struct field {
	struct engine *e;
	struct plan plan;
	int64_t now;
	int rv;
};

/* It leads, and knows that there is nothing. */
static inline void field_init(struct field *f, const struct engine_config *config)
{
	struct engine_config checked = *config;
	checked.check_every = 1;
	*f = (struct field){.e = engine_create(&checked, 1), .now = 1000, .rv = 10};
	tell_sync(f->e);
	tell_lead(f->e);
}

static inline void field_finish(struct field *f)
{
	engine_destroy(f->e);
	plan_finish(&f->plan);
}

/* The next version is its own. */
static inline void tell(struct field *f, struct pod *p)
{
	char rv[16];
	snprintf(rv, sizeof rv, "%d", ++f->rv);
	p->resource_version = rv;
	struct change set = {.type = CHANGE_SET, .kind = KIND_POD, .pod = p};
	engine_observe(f->e, &set);
}

static inline void tell_node(struct field *f, int number)
{
	char name[32];
	snprintf(name, sizeof name, "node-%03d", number);
	struct node n = {.name = name,
		.uid = name,
		.resource_version = "1",
		.ready = true,
		.cpu_milli = 128000,
		.mem_bytes = INT64_C(1) << 40,
		.pod_slots = 250,
		.gpus = GPUS};
	struct change set = {.type = CHANGE_SET, .kind = KIND_NODE, .node = &n};
	engine_observe(f->e, &set);
}

static inline void tell_tenant(
	struct field *f, int number, const char *share, int64_t created_ms, int32_t priority)
{
	char name[16];
	const char *gate[] = {NAME_GATE};
	struct pair labels[] = {{LABEL_TENANT, "true"}};
	struct pair notes[] = {{NOTE_ORIGINAL, "{}"}, {NOTE_SHARE, share}};
	snprintf(name, sizeof name, "t%05d", number);
	struct pod p = {.ns = "default",
		.name = name,
		.uid = name,
		.created_ms = created_ms,
		.priority = priority,
		.labels = {labels, 1},
		.notes = {notes, COUNT_OF(notes)},
		.gates = gate,
		.gate_count = 1,
		.cpu_milli = 100};
	tell(f, &p);
}

#endif
