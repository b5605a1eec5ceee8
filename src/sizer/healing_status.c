/* The conditions that tell of healing while it lasts. */
#include "healing_status.h"

#include "base/number.h"
#include "recommendation_status.h"
#include "status_sentences.h"

/* So long a GPU counts as contended, and that is told of which nobody knows whose fault it was. */
#define CONTENDED_MS 600000

static const char *when(struct arena *a, int64_t ms)
{
	char text[TIME_TEXT_MAX];
	return arena_strdup(a, time_format(ms, text));
}

static void set_condition_true(const struct sized_workload *x, struct recommendation *r,
	enum recommendation_condition type, const char *reason, const char *message)
{
	say_condition(x, r, type, CONDITION_TRUE, (struct say_sentence){reason, message});
}

static void say_healing(const struct sized_workload *x, const struct sized_container *c,
	struct arena *a, struct recommendation *r)
{
	const struct sized_heal *h = heals_of(c);
	const char *kind = healing_kind_name(h->answer.told.kind);
	const char *until = when(a, h->answer.told.until_ms);
	r->healing = h->answer.told;
	if (h->state.exhausted) {
		set_condition_true(x, r, RECOMMENDATION_HEALING, "HealingExhausted",
			arena_printf(a,
				"%s: all memory of a GPU was not enough: it needs a larger one, or "
				"less to do.",
				c->name));
		return;
	}
	set_condition_true(x, r, RECOMMENDATION_HEALING, kind,
		h->answer.told.kind == HEALING_ROLLBACK
			? arena_printf(a,
				  "%s: it has what it had before, until %s: with less it "
				  "restarted again and again.",
				  c->name, until)
			: arena_printf(a,
				  "%s: it has more than is recommended, until %s: it was short of "
				  "what it had.",
				  c->name, until));
}

static bool is_recent(int64_t at_ms, int64_t now_ms)
{
	return at_ms > 0 && now_ms - at_ms < CONTENDED_MS;
}

/* Where a neighbour may have taken it more of its own would not be true (C29). */
static void say_unjudged(const struct sized_workload *x, const struct sized_container *c,
	struct arena *a, struct recommendation *r)
{
	say_condition(x, r, RECOMMENDATION_HEALING, CONDITION_FALSE,
		(struct say_sentence){
			"NeighbourUnknown", arena_printf(a,
						    "%s: it ran out of GPU memory, and of a "
						    "neighbour on its GPU nobody "
						    "tells how much it uses: nothing is added, for "
						    "it may have taken it.",
						    c->name)});
}

static void say_blocks(const struct sized_workload *x, const struct sized_container *c,
	const struct decision *d, struct arena *a, struct recommendation *r)
{
	const struct sized_heal *h = heals_of(c);
	if (d->now_ms < h->answer.blocked_ms) {
		set_condition_true(x, r, RECOMMENDATION_SCALE_DOWN_BLOCKED,
			h->state.paused ? "Rollback" : "Healing",
			arena_printf(a, "%s: nothing shrinks before %s.", c->name,
				when(a, h->answer.blocked_ms)));
	}
	if (h->state.paused) {
		set_condition_true(x, r, RECOMMENDATION_PAUSED, HEALS_PAUSED,
			arena_printf(a,
				"%s: after our last change it restarted again and again. Its share "
				"is not changed before %s, or until its policy is.",
				c->name, when(a, heals_blocked_ms(c))));
	}
	if (is_recent(h->contended_ms, d->now_ms)) {
		set_condition_true(x, r, RECOMMENDATION_CONTENTION, "Neighbours",
			arena_printf(a,
				"%s: what it lacks others on its GPU use: more for it would not "
				"help, another GPU would%s%s.",
				c->name, d->moves != NULL ? ": " : "", text_or(d->moves, "")));
	}
	if (h->state.leaking) {
		set_condition_true(x, r, RECOMMENDATION_LEAK_SUSPECTED, "GrowsWithoutPlateau",
			arena_printf(a,
				"%s: its memory has been rising for %d hours or more: it gets no "
				"more until that ends or its policy changes.",
				c->name, HEAL_LEAK_HOURS));
	}
}

static void say_cap(const struct sized_workload *x, const struct sized_container *c,
	const struct decision *d, struct arena *a, struct recommendation *r)
{
	const struct sized_heal *h = heals_of(c);
	for (uint32_t i = 0; i < r->container_count; i++) {
		struct recommended_container *rc = &r->containers[i];
		if (text_equals(rc->name, c->name)) {
			rc->capped_by = (enum capped_by)h->capped_by;
			rc->uncapped.milli = larger_of(rc->uncapped.milli, h->uncapped.milli);
			rc->uncapped.mib = larger_of(rc->uncapped.mib, h->uncapped.mib);
		}
	}
	set_condition_true(x, r, RECOMMENDATION_CAPPED,
		capped_by_name((enum capped_by)h->capped_by),
		why_capped((enum capped_by)h->capped_by, d, a));
}

void heals_say(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct recommendation *r)
{
	for (size_t i = x->containers.count; i-- > 0;) {
		const struct sized_container *c = x->containers.items[i];
		if (is_recent(heals_of(c)->unjudged_ms, d->now_ms) &&
			r->conditions[RECOMMENDATION_HEALING].status != CONDITION_TRUE) {
			say_unjudged(x, c, a, r);
		}
		if (heals_of(c)->answer.healing) {
			say_healing(x, c, a, r);
		}
		if (heals_of(c)->capped_by != CAPPED_BY_NONE) {
			say_cap(x, c, d, a, r);
		}
		say_blocks(x, c, d, a, r);
	}
}
