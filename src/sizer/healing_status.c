/* The conditions that tell of healing while it lasts. */
#include "healing_status.h"

#include "base/number.h"

/* So long a GPU counts as contended, and that is told of which nobody knows whose fault it was. */
#define CONTENDED_MS 600000

static bool is_recent(int64_t at_ms, int64_t now_ms)
{
	return at_ms > 0 && now_ms - at_ms < CONTENDED_MS;
}

static void say_healed(const struct status *s, const struct sized_container *c)
{
	const struct heal_record *h = healing_of(c);
	const char *until = when_text(s->a, h->answer.told.until_ms);
	s->r->healing = h->answer.told;
	if (h->state.exhausted) {
		set_true(s, RECOMMENDATION_HEALING, "HealingExhausted",
			arena_printf(s->a,
				"%s: all memory of a GPU was not enough: it needs a larger one, or "
				"less to do.",
				c->name));
		return;
	}
	set_true(s, RECOMMENDATION_HEALING, healing_kind_name(h->answer.told.kind),
		h->answer.told.kind == HEALING_ROLLBACK
			? arena_printf(s->a,
				  "%s: it has what it had before, until %s: with less it "
				  "restarted again and again.",
				  c->name, until)
			: arena_printf(s->a,
				  "%s: it has more than is recommended, until %s: it was short of "
				  "what it had.",
				  c->name, until));
}

static void say_blocks(const struct status *s, const struct sized_container *c)
{
	const struct heal_record *h = healing_of(c);
	if (s->d->now_ms < h->answer.blocked_ms) {
		set_true(s, RECOMMENDATION_SCALE_DOWN_BLOCKED,
			h->state.paused ? "Rollback" : "Healing",
			arena_printf(s->a, "%s: nothing shrinks before %s.", c->name,
				when_text(s->a, h->answer.blocked_ms)));
	}
	if (h->state.paused) {
		set_true(s, RECOMMENDATION_PAUSED, HEALING_PAUSED,
			arena_printf(s->a,
				"%s: after our last change it restarted again and again. Its share "
				"is not changed before %s, or until its policy is.",
				c->name, when_text(s->a, healing_blocked_ms(c))));
	}
	if (is_recent(h->contended_ms, s->d->now_ms)) {
		const char *moves = s->d->moves;
		set_true(s, RECOMMENDATION_CONTENTION, "Neighbours",
			arena_printf(s->a,
				"%s: what it lacks others on its GPU use: more for it would not "
				"help, another GPU would%s%s.",
				c->name, moves != NULL ? ": " : "", text_or(moves, "")));
	}
	if (h->state.leaking) {
		set_true(s, RECOMMENDATION_LEAK_SUSPECTED, "GrowsWithoutPlateau",
			arena_printf(s->a,
				"%s: its memory has been rising for %d hours or more: it gets no "
				"more until that ends or its policy changes.",
				c->name, HEAL_LEAK_HOURS));
	}
}

static void say_cap(const struct status *s, const struct sized_container *c)
{
	const struct heal_record *h = healing_of(c);
	enum capped_by by = (enum capped_by)h->capped_by;
	for (uint32_t i = 0; i < s->r->container_count; i++) {
		struct recommended_container *rc = &s->r->containers[i];
		if (text_equals(rc->name, c->name)) {
			rc->capped_by = by;
			rc->uncapped.milli = larger_of(rc->uncapped.milli, h->uncapped.milli);
			rc->uncapped.mib = larger_of(rc->uncapped.mib, h->uncapped.mib);
		}
	}
	set_true(s, RECOMMENDATION_CAPPED, capped_by_name(by), why_capped(by, s->d, s->a));
}

void say_healing(const struct status *s)
{
	const struct recommended_condition *healing = &s->r->conditions[RECOMMENDATION_HEALING];
	for (size_t i = s->x->containers.count; i-- > 0;) {
		const struct sized_container *c = s->x->containers.items[i];
		const struct heal_record *h = healing_of(c);
		/* Where a neighbour may have taken it more of its own would not be true (C29). */
		if (is_recent(h->unjudged_ms, s->d->now_ms) && healing->status != CONDITION_TRUE) {
			const char *message = arena_printf(s->a,
				"%s: it ran out of GPU memory, and of a neighbour on its GPU "
				"nobody tells how much it uses: nothing is added, for it may have "
				"taken it.",
				c->name);
			set_condition(s, RECOMMENDATION_HEALING, false,
				(struct sentence){"NeighbourUnknown", message});
		}
		if (h->answer.healing) {
			say_healed(s, c);
		}
		if (h->capped_by != CAPPED_BY_NONE) {
			say_cap(s, c);
		}
		say_blocks(s, c);
	}
}
