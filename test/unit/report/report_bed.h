/* A report, and objects to tell it of in a few words. */
#ifndef TEST_UNIT_REPORT_REPORT_BED_H
#define TEST_UNIT_REPORT_REPORT_BED_H

#include "report/report.h"

#include <stdio.h>

#include "../codec/data.h"
#include "model/names.h"

#define NOW_MS INT64_C(1795392000000)
#define MIN_MS INT64_C(60000)

struct bed {
	struct report *report;
	struct str text;
};

static inline struct bed set_up(void)
{
	return (struct bed){report_create(), STR_INIT(REPORT_JSON_BYTES)};
}

static inline void tear_down(struct bed *b)
{
	report_destroy(b->report);
	str_finish(&b->text);
}

static inline bool has(const struct bed *b, const char *part)
{
	return strstr(str_text(&b->text), part) != NULL;
}

static inline void mark(struct bed *b, enum kind kind, enum change_type type)
{
	struct change c = {.kind = kind, .type = type};
	report_apply(b->report, &c);
}

static inline void node(struct bed *b, const char *name, int64_t gpus)
{
	struct node n = {.name = name, .uid = name, .resource_version = "1", .gpus = gpus};
	struct change c = {.kind = KIND_NODE, .node = &n};
	report_apply(b->report, &c);
}

static inline void pod(struct bed *b, struct pod p)
{
	struct container main = {.name = "main", .gpus = p.gpus};
	struct change c = {.kind = KIND_POD, .pod = &p};
	p.uid = p.name;
	p.resource_version = "1";
	p.ns = p.ns != NULL ? p.ns : "team";
	p.phase = p.phase == POD_PENDING && p.node != NULL ? POD_RUNNING : p.phase;
	p.created_ms = NOW_MS - 12 * MIN_MS;
	if (p.gpus > 0) {
		p.containers = &main;
		p.container_count = 1;
	}
	report_apply(b->report, &c);
}

static const struct owner web = {"apps/v1", "ReplicaSet", "web", "w"};
static struct pair tenant_label[] = {{LABEL_TENANT, "true"}};

static inline void tenant(struct bed *b, const char *name, const char *milli)
{
	struct pair notes[] = {
		{NOTE_COMPUTE_MILLI, milli}, {NOTE_GPU_UUID, "GPU-1"}, {NOTE_MEMORY_MIB, "8192"}};
	pod(b, (struct pod){.name = name,
		       .owner = web,
		       .node = "a",
		       .labels = {tenant_label, 1},
		       .notes = {notes, COUNT_OF(notes)}});
}

static inline void waiting(struct bed *b, const char *name, const char *reason, const char *message)
{
	static const char *gates[] = {NAME_GATE};
	pod(b, (struct pod){.name = name,
		       .owner = web,
		       .labels = {tenant_label, 1},
		       .gates = gates,
		       .gate_count = 1,
		       .placed = {.type = reason != NULL ? NAME_PLACED : NULL,
			       .reason = reason,
			       .message = message}});
}

/* Whole GPUs; `kind` NULL: nobody controls it. */
static inline void whole(struct bed *b, const char *kind, const char *name, int64_t gpus)
{
	struct pod p = {.name = name, .node = "b", .gpus = gpus};
	if (kind != NULL) {
		p.owner = (struct owner){"example.com/v1", kind, "one", "o"};
	}
	pod(b, p);
}

static inline void capacity(struct bed *b, const char *name, uint32_t grants)
{
	struct pair labels[] = {{LABEL_CAPACITY, "true"}};
	struct grant grant = {"u", "team", "t", 250, 8192};
	pod(b, (struct pod){.ns = NAME_NAMESPACE,
		       .name = name,
		       .node = "a",
		       .gpus = 1,
		       .labels = {labels, 1},
		       .ledger = {&grant, grants}});
}

static inline void work(struct bed *b, const char *name, const char *ready, const char *blocked)
{
	bool is_ready = text_equals(ready, "Ready") || text_equals(ready, "Recommending");
	struct recommendation r = {.name = name,
		.target = {"team", "apps", "Deployment", name},
		.saves = is_ready,
		.saved_milli = 750};
	r.conditions[RECOMMENDATION_READY] = (struct recommended_condition){
		is_ready ? CONDITION_TRUE : CONDITION_FALSE, ready, "So it is.", NOW_MS};
	r.conditions[RECOMMENDATION_APPLIED] = (struct recommended_condition){
		blocked == NULL && text_equals(ready, "Ready") ? CONDITION_TRUE : CONDITION_FALSE,
		"Applied", "", NOW_MS};
	if (blocked != NULL) {
		r.conditions[RECOMMENDATION_UPDATE_BLOCKED] =
			(struct recommended_condition){CONDITION_TRUE, blocked,
				"PodDisruptionBudget web allows nobody to go.", NOW_MS};
	}
	struct change c = {.kind = KIND_RECOMMENDATION, .recommendation = &r};
	report_apply(b->report, &c);
}

#endif
