/* Workloads, as their GPURecommendations say it. */
#include <stdlib.h>

#include "model/recommendation.h"
#include "parts.h"

#define OTHERS "others" /* no reason of a condition is written so */

void works_clear(struct works *w)
{
	struct causes unready = w->unready, blocked = w->blocked;
	VEC_CLEAR(&unready);
	VEC_CLEAR(&blocked);
	*w = (struct works){.unready = unready, .blocked = blocked};
}

static struct cause *cause_of(struct causes *causes, const char *reason)
{
	for (size_t i = 0; i < causes->count; i++) {
		if (text_equals(causes->items[i].reason, reason)) {
			return &causes->items[i];
		}
	}
	return NULL;
}

/* The last of REPORT_REASONS_MAX is all further words. */
static void add_cause(struct report *r, struct causes *causes, const struct recommendation *of,
	const struct recommended_condition *c)
{
	struct arena *a = &r->works_arena;
	const char *reason = text_empty(c->reason) ? "Unknown" : c->reason;
	struct cause *known = cause_of(causes, reason);
	if (known == NULL && causes->count + 1 >= REPORT_REASONS_MAX) {
		reason = OTHERS;
		known = cause_of(causes, reason);
	}
	if (known != NULL) {
		known->count++;
		return;
	}
	struct cause fresh = {.reason = arena_strdup(a, reason),
		.ns = arena_strdup(a, of->target.ns),
		.kind = arena_strdup(a, of->target.kind),
		.name = arena_strdup(a, of->target.name),
		.message = arena_strdup(a, text_or(c->message, "")),
		.count = 1};
	VEC_PUSH(causes, fresh);
}

/* The most frequent first, all others last. */
static int compare_causes(const void *a, const void *b)
{
	const struct cause *l = a, *r = b;
	bool l_last = text_equals(l->reason, OTHERS), r_last = text_equals(r->reason, OTHERS);
	if (l_last != r_last) {
		return l_last ? 1 : -1;
	}
	return l->count != r->count ? (l->count < r->count ? 1 : -1) : strcmp(l->reason, r->reason);
}

static void sort(struct causes *causes)
{
	if (causes->count > 1) {
		qsort(causes->items, causes->count, sizeof *causes->items, compare_causes);
	}
}

void works_end(struct works *w)
{
	sort(&w->unready);
	sort(&w->blocked);
}

void report_work(struct report *r, const struct recommendation *of)
{
	const struct recommended_condition *ready = &of->conditions[RECOMMENDATION_READY];
	const struct recommended_condition *blocked =
		&of->conditions[RECOMMENDATION_UPDATE_BLOCKED];
	struct works *w = &r->works;
	w->total++;
	if (ready->status != CONDITION_TRUE) {
		add_cause(r, &w->unready, of, ready);
	} else if (text_equals(ready->reason, "Ready")) {
		w->automated++;
	} else {
		w->shown++;
	}
	if (blocked->status == CONDITION_TRUE) {
		add_cause(r, &w->blocked, of, blocked);
	}
	w->applied += of->conditions[RECOMMENDATION_APPLIED].status == CONDITION_TRUE ? 1 : 0;
	w->healing += of->healing.kind != HEALING_NONE ? 1 : 0;
	sum_add(&w->saved_milli, of->saves ? of->saved_milli : 0);
}
