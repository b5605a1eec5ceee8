/* What events tell of healing: when it begins and ends, and what is not healed. */
#include "healing/healing_events.h"

#include "model/quantity.h"

/* The same is not told again sooner. */
#define AGAIN_MS 300000

static const char *shortage_of(
	const struct sized_container *c, struct arena *a, enum heal_signal saw)
{
	char memory[QUANTITY_TEXT_MAX];
	const struct small_share *has = &c->tally.heal.granted;
	switch (saw) {
	case HEAL_DENIED:
		return arena_printf(a, "it ran out of GPU memory, of which it had %s",
			memory_format(healing_of(c)->denied_of_mib, memory));
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

/* What is only recommended nobody gets. */
static bool recommends_only(const struct decision *d)
{
	return d->choice.mode != MODE_AUTOMATE || d->choice.excluded;
}

/* One container of one workload. */
struct event_about {
	struct write_pace *pace;
	const struct sized_workload *x;
	struct sized_container *c;
	const struct decision *d;
	struct plan *plan;
};

static void emit_began(const struct event_about *t)
{
	struct arena *a = &t->plan->arena;
	const struct heal_record *h = healing_of(t->c);
	const char *lacks = shortage_of(t->c, a, (enum heal_signal)h->answer.saw);
	const char *share = share_text(a, &t->c->in_force);
	const char *until = when_text(a, h->answer.blocked_ms);
	const char *message =
		recommends_only(t->d)
			? arena_printf(a,
				  "%s: %s: %s is recommended now, and nothing less before %s; "
				  "its policy applies nothing, and what it has stays",
				  t->c->name, lacks, share, until)
			: arena_printf(a,
				  "%s: %s: the target is %s now, and nothing shrinks before %s",
				  t->c->name, lacks, share, until);
	write_event(t->pace, t->x, t->plan, "HealingStarted", message);
}

static void emit_rollback(const struct event_about *t)
{
	struct arena *a = &t->plan->arena;
	write_warning(t->pace, t->x, t->plan, "RolledBack",
		arena_printf(a,
			"%s: it restarted %d times within %d minutes after its share became "
			"smaller: %s %s again",
			t->c->name, (int)healing_of(t->c)->restarts, HEAL_RESTARTS_MS / 60000,
			recommends_only(t->d) ? "recommended is" : "it gets",
			share_text(a, &t->c->in_force)));
	write_warning(t->pace, t->x, t->plan, "AutomationPaused",
		arena_printf(a, "%s: its share is not changed before %s, or until its policy is",
			t->c->name, when_text(a, healing_blocked_ms(t->c))));
}

static void emit_ignored(const struct event_about *t)
{
	struct heal_record *h = t->c->heal;
	enum heal_signal saw = (enum heal_signal)h->ignored;
	if (h->told == h->ignored && t->d->now_ms - h->told_ms < AGAIN_MS) {
		return;
	}
	write_warning(t->pace, t->x, t->plan, heal_signal_name(saw),
		arena_printf(&t->plan->arena, "%s: %s; its policy does not heal that", t->c->name,
			shortage_of(t->c, &t->plan->arena, saw)));
	h->told = h->ignored;
	h->told_ms = t->d->now_ms;
}

void emit_healing_events(struct write_pace *pace, struct sized_workload *x,
	const struct decision *d, struct plan *plan)
{
	struct arena *a = &plan->arena;
	for (size_t i = 0; i < x->containers.count && x->uid != NULL; i++) {
		struct sized_container *c = x->containers.items[i];
		const struct event_about about = {pace, x, c, d, plan};
		struct heal_record *h = c->heal;
		if (h == NULL) {
			continue;
		}
		if (h->rolled) {
			emit_rollback(&about);
		}
		if (h->began) {
			emit_began(&about);
		}
		if (h->ended) {
			write_event(pace, x, plan, "HealingEnded",
				arena_printf(a, "%s: nothing is added any more: the target is %s",
					c->name, share_text(a, &c->in_force)));
		}
		if (h->leaks) {
			write_warning(pace, x, plan, "LeakSuspected",
				arena_printf(a,
					"%s: its memory has been rising for %d hours and %d steps "
					"did not help: it gets no more",
					c->name, HEAL_LEAK_HOURS, HEAL_LEAK_STEPS));
		}
		if (h->ignored != HEAL_QUIET) {
			emit_ignored(&about);
		}
		h->rolled = h->began = h->ended = h->leaks = false;
		h->ignored = HEAL_QUIET;
		healing_trim(c);
	}
}
