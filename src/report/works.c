/* Workloads, as their GPURecommendations say it. */
#include "model/recommendation.h"
#include "parts.h"

void works_clear(struct works *w)
{
	struct causes unready = w->unready, blocked = w->blocked;
	VEC_CLEAR(&unready);
	VEC_CLEAR(&blocked);
	*w = (struct works){.unready = unready, .blocked = blocked};
}

/* Beyond REPORT_REASONS_MAX a word is not told apart. */
static void add_cause(struct report *r, struct causes *causes, const struct recommendation *of,
	const struct recommended_condition *c)
{
	struct arena *a = &r->works_arena;
	const char *reason = text_empty(c->reason) ? "Unknown" : c->reason;
	for (size_t i = 0; i < causes->count; i++) {
		bool last = i + 1 == REPORT_REASONS_MAX;
		if (last || text_equals(causes->items[i].reason, reason)) {
			causes->items[i].count++;
			return;
		}
	}
	struct cause fresh = {.reason = arena_strdup(a, reason),
		.ns = arena_strdup(a, of->target.ns),
		.kind = arena_strdup(a, of->target.kind),
		.name = arena_strdup(a, of->target.name),
		.message = arena_strdup(a, text_or(c->message, "")),
		.count = 1};
	VEC_PUSH(causes, fresh);
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
	w->saved_milli += of->saves ? of->saved_milli : 0;
}
