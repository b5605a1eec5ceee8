/* How healing is told: events when it begins and ends, conditions while it lasts. */
#include "heals_say.h"

#include "actions.h"
#include "base/number.h"
#include "model/quantity.h"
#include "say.h"
#include "say_why.h"

/* The same is not told again sooner. */
#define AGAIN_MS 300000
/* So long a GPU counts as contended, and that is told of which nobody knows whose fault it was. */
#define CONTENDED_MS 600000

static const char *when(struct arena *a, int64_t ms)
{
	char text[TIME_TEXT_MAX];
	return arena_strdup(a, time_format(ms, text));
}

/* --- events --- */

static const char *what(const struct sized_container *c, struct arena *a, enum heal_signal saw)
{
	char memory[QUANTITY_TEXT_MAX];
	const struct small_share *has = &c->tally.heal.granted;
	switch (saw) {
	case HEAL_DENIED:
		return arena_printf(a, "it ran out of GPU memory, of which it had %s",
			memory_format(heals_of(c)->denied_of_mib, memory));
	case HEAL_NEAR_LIMIT:
		return arena_printf(a, "it used nearly all of its %s of GPU memory for 5 minutes",
			memory_format(has->mib, memory));
	case HEAL_PRESSED:
		return arena_printf(a, "it wants more compute than its %lld%%",
			(long long)(has->milli + 5) / 10);
	case HEAL_QUIET:
	case HEAL_CONTENTION:
	case HEAL_RESTARTS_LOOP:
		break;
	}
	return "it was short of what it had";
}

static struct action *event(
	struct sizer *s, const struct sized *x, struct plan *plan, const char *reason)
{
	struct action *e = write_event(s, x, plan);
	e->event_reason = reason;
	return e;
}

/* What is only recommended nobody gets. */
static bool recommends_only(const struct decision *d)
{
	return d->choice.mode != MODE_AUTOMATE || d->choice.excluded;
}

static void tell_began(struct sizer *s, const struct sized *x, struct sized_container *c,
	const struct decision *d, struct plan *plan)
{
	struct arena *a = &plan->arena;
	const struct sized_heal *h = heals_of(c);
	const char *short_of = what(c, a, (enum heal_signal)h->answer.saw);
	const char *share = say_share(a, &c->in_force), *until = when(a, h->answer.blocked_ms);
	struct action *e = event(s, x, plan, "HealingStarted");
	e->message =
		recommends_only(d)
			? arena_printf(a,
				  "%s: %s: %s is recommended now, and nothing less before %s; "
				  "its policy applies nothing, and what it has stays",
				  c->name, short_of, share, until)
			: arena_printf(a,
				  "%s: %s: the target is %s now, and nothing shrinks before %s",
				  c->name, short_of, share, until);
}

static void tell_rollback(struct sizer *s, const struct sized *x, struct sized_container *c,
	const struct decision *d, struct plan *plan)
{
	struct arena *a = &plan->arena;
	struct action *e = event(s, x, plan, "RolledBack");
	e->warning = true;
	e->message = arena_printf(a,
		"%s: it restarted %d times within %d minutes after its share became smaller: %s "
		"%s again",
		c->name, (int)heals_of(c)->restarts, HEAL_RESTARTS_MS / 60000,
		recommends_only(d) ? "recommended is" : "it gets", say_share(a, &c->in_force));
	e = event(s, x, plan, "AutomationPaused");
	e->warning = true;
	e->message =
		arena_printf(a, "%s: its share is not changed before %s, or until its policy is",
			c->name, when(a, heals_blocked_ms(c)));
}

static void tell_ignored(struct sizer *s, const struct sized *x, struct sized_container *c,
	int64_t now_ms, struct plan *plan)
{
	struct sized_heal *h = c->heal;
	if (h->told != h->ignored || now_ms - h->told_ms >= AGAIN_MS) {
		struct action *e =
			event(s, x, plan, heal_signal_name((enum heal_signal)h->ignored));
		e->warning = true;
		e->message = arena_printf(&plan->arena, "%s: %s; its policy does not heal that",
			c->name, what(c, &plan->arena, (enum heal_signal)h->ignored));
		h->told = h->ignored;
		h->told_ms = now_ms;
	}
}

static void emit_healing_events(struct sizer *s, const struct sized *x, struct sized_container *c,
	const struct decision *d, struct plan *plan)
{
	const struct sized_heal *h = heals_of(c);
	struct arena *a = &plan->arena;
	if (h->rolled) {
		tell_rollback(s, x, c, d, plan);
	}
	if (h->began) {
		tell_began(s, x, c, d, plan);
	}
	if (h->ended) {
		event(s, x, plan, "HealingEnded")->message =
			arena_printf(a, "%s: nothing is added any more: the target is %s", c->name,
				say_share(a, &c->in_force));
	}
	if (h->leaks) {
		struct action *e = event(s, x, plan, "LeakSuspected");
		e->warning = true;
		e->message = arena_printf(a,
			"%s: its memory has been rising for %d hours and %d steps did not help: it "
			"gets no more",
			c->name, HEAL_LEAK_HOURS, HEAL_LEAK_STEPS);
	}
	if (h->ignored != HEAL_QUIET) {
		tell_ignored(s, x, c, d->now_ms, plan);
	}
}

void heals_tell(struct sizer *s, struct sized *x, const struct decision *d, struct plan *plan)
{
	for (size_t i = 0; i < x->containers.count && x->uid != NULL; i++) {
		struct sized_heal *h = x->containers.items[i]->heal;
		if (h == NULL) {
			continue;
		}
		emit_healing_events(s, x, x->containers.items[i], d, plan);
		h->rolled = h->began = h->ended = h->leaks = false;
		h->ignored = HEAL_QUIET;
		heals_trim(x->containers.items[i]);
	}
}

/* --- conditions --- */

static void set_condition_true(const struct sized *x, struct recommendation *r,
	enum recommendation_condition type, const char *reason, const char *message)
{
	say_condition(x, r, type, CONDITION_TRUE, (struct say_sentence){reason, message});
}

static void say_healing(const struct sized *x, const struct sized_container *c, struct arena *a,
	struct recommendation *r)
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
static void say_unjudged(const struct sized *x, const struct sized_container *c, struct arena *a,
	struct recommendation *r)
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

static void say_blocks(const struct sized *x, const struct sized_container *c,
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

static void say_cap(const struct sized *x, const struct sized_container *c,
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

void heals_say(
	const struct sized *x, const struct decision *d, struct arena *a, struct recommendation *r)
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
