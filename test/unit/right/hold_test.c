/* When a share is put in force. */
#include <criterion/criterion.h>

#include "base/rand.h"
#include "bed.h"

static const struct sizing real_time = SIZING_DEFAULT;

static struct hold_ask ask_of(struct share current, struct share wanted)
{
	static struct sizing sizing;
	sizing = real_time;
	return (struct hold_ask){.sizing = &sizing,
		.facts = {.state = HISTORY_SUFFICIENT, .first_ms = START - 30 * DAY},
		.current = current,
		.wanted = wanted,
		.now_ms = START};
}

static struct hold_answer step(const struct hold_ask *ask, struct history_kept *kept)
{
	struct hold_answer a;
	hold_step(ask, kept, &a);
	return a;
}

Test(hold, R9_a_change_must_be_worth_one)
{
	static const struct {
		struct share from, to;
		enum hold_why compute, memory;
	} rows[] = {
		{{300, 7168}, {350, 7168}, HOLD_GROWS, HOLD_SAME},
		{{600, 7168}, {650, 7168}, HOLD_SMALL, HOLD_SAME}, /* 8.3 % */
		{{600, 7168}, {660, 7168}, HOLD_GROWS, HOLD_SAME},
		{{300, 7168}, {340, 7168}, HOLD_SMALL, HOLD_SAME}, /* 4 points */
		{{300, 7168}, {300, 7680}, HOLD_SAME, HOLD_SMALL}, /* 7.1 % */
		{{300, 2048}, {300, 2304}, HOLD_SAME, HOLD_SMALL}, /* 256 MiB */
		{{300, 2048}, {300, 2560}, HOLD_SAME, HOLD_GROWS},
		{{300, 2560}, {300, 2048}, HOLD_SAME, HOLD_DELAY},
		{{300, 7168}, {0, 0}, HOLD_UNKNOWN, HOLD_UNKNOWN},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct history_kept kept = {0};
		struct hold_ask ask = ask_of(rows[i].from, rows[i].to);
		struct hold_answer a = step(&ask, &kept);
		cr_expect_eq(a.compute.why, rows[i].compute, "row %zu", i);
		cr_expect_eq(a.memory.why, rows[i].memory, "row %zu", i);
		bool grows = a.compute.why == HOLD_GROWS || a.memory.why == HOLD_GROWS;
		cr_expect_eq(a.changes, grows, "row %zu", i);
		cr_expect_eq(a.target.milli,
			a.compute.why == HOLD_GROWS ? rows[i].to.milli : rows[i].from.milli);
	}
	cr_expect_str_eq(hold_why_name(HOLD_SMALL), "BelowThreshold");
}

Test(hold, what_shrinks_gets_the_most_that_was_asked_for_meanwhile)
{
	struct history_kept kept = {0};
	struct hold_ask ask = ask_of((struct share){600, 20480}, (struct share){200, 20480});
	struct hold_answer a = step(&ask, &kept);
	cr_expect_eq(a.compute.why, HOLD_DELAY);
	cr_expect_eq(a.compute.next_ms, START + DAY);
	for (int hour = 1; hour < 24 * 12; hour++) {
		ask.now_ms = START + hour * 5LL * MINUTE;
		ask.wanted.milli = hour == 100 ? 350 : 200;
		cr_assert_not(step(&ask, &kept).changes);
	}
	ask.now_ms = START + DAY;
	a = step(&ask, &kept);
	cr_expect_eq(a.compute.why, HOLD_SHRINKS);
	cr_expect_eq(a.target.milli, 350);
	cr_expect_eq(a.target.mib, 20480);
	/* The rest of the way takes a delay of its own. */
	ask.current = a.target;
	cr_expect_eq(step(&ask, &kept).compute.why, HOLD_DELAY);
}

Test(hold, a_return_begins_the_delay_anew)
{
	struct history_kept kept = {0};
	struct hold_ask ask = ask_of((struct share){600, 20480}, (struct share){200, 20480});
	step(&ask, &kept);
	ask.now_ms = START + 5 * MINUTE;
	ask.wanted.milli = 580;
	cr_expect_eq(step(&ask, &kept).compute.why, HOLD_SMALL);
	ask.now_ms += 5 * MINUTE;
	ask.wanted.milli = 200;
	cr_expect_eq(step(&ask, &kept).compute.next_ms, START + DAY + 10 * MINUTE);
}

Test(hold, a_silence_is_no_part_of_the_delay)
{
	struct history_kept kept = {0};
	struct hold_ask ask = ask_of((struct share){600, 20480}, (struct share){200, 8192});
	step(&ask, &kept);
	ask.now_ms += 6 * HOUR;
	ask.facts.state = HISTORY_STALE;
	cr_expect_eq(step(&ask, &kept).compute.why, HOLD_STALE);
	ask.now_ms += HOUR;
	ask.facts.state = HISTORY_SUFFICIENT;
	struct hold_answer a = step(&ask, &kept);
	cr_expect_eq(a.compute.next_ms, START + DAY + 7 * HOUR);
	cr_expect_eq(a.memory.next_ms, START + DAY + 7 * HOUR);
}

Test(hold, nothing_shrinks_while_it_is_blocked_or_in_use)
{
	struct history_kept kept = {0};
	struct hold_ask ask = ask_of((struct share){600, 20480}, (struct share){200, 20480});
	struct sizing sizing = real_time;
	sizing.scale_down_delay_s = 0;
	sizing.shrink_idle_s = 1800;
	ask.sizing = &sizing;
	ask.blocked_ms = START + HOUR;
	cr_expect_eq(step(&ask, &kept).compute.why, HOLD_HEALING);
	cr_expect_eq(step(&ask, &kept).compute.next_ms, START + HOUR);
	ask.blocked_ms = START;
	ask.facts.active_ms = START - 10 * MINUTE;
	cr_expect_eq(step(&ask, &kept).compute.why, HOLD_ACTIVE);
	cr_expect_eq(step(&ask, &kept).compute.next_ms, START + 20 * MINUTE);
	ask.facts.active_ms = START - 30 * MINUTE;
	cr_expect_eq(step(&ask, &kept).compute.why, HOLD_SHRINKS);
}

Test(hold, a_share_grows_while_it_learns_but_not_in_silence)
{
	struct history_kept kept = {0};
	struct hold_ask ask = ask_of((struct share){300, 7168}, (struct share){550, 14336});
	ask.facts.state = HISTORY_STALE;
	cr_expect_not(step(&ask, &kept).changes);
	ask.facts.state = HISTORY_LEARNING;
	struct hold_answer a = step(&ask, &kept);
	cr_expect_eq(a.target.milli, 550);
	cr_expect_eq(a.target.mib, 14336);
}

Test(hold, a_whole_gpu_is_converted_in_one_change)
{
	static const struct {
		struct share wanted;
		enum history_state state;
		int64_t since_h;
		enum hold_why why;
	} rows[] = {
		{{300, 7168}, HISTORY_SUFFICIENT, 24, HOLD_CONVERTS},
		{{300, 7168}, HISTORY_SUFFICIENT, 23, HOLD_DELAY},
		{{300, 7168}, HISTORY_LEARNING, 48, HOLD_LEARNING},
		{{300, 7168}, HISTORY_STALE, 48, HOLD_STALE},
		{{300, 0}, HISTORY_SUFFICIENT, 48, HOLD_UNKNOWN},
		{{0, 7168}, HISTORY_SUFFICIENT, 48, HOLD_UNKNOWN},
		{{1000, 7168}, HISTORY_SUFFICIENT, 48, HOLD_SAME},
		{{950, 7168}, HISTORY_SUFFICIENT, 48, HOLD_SMALL},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct history_kept kept = {0};
		struct hold_ask ask = ask_of((struct share){1000, 81920}, rows[i].wanted);
		ask.whole = true;
		ask.facts.state = rows[i].state;
		ask.facts.first_ms = START - rows[i].since_h * HOUR;
		struct hold_answer a = step(&ask, &kept);
		cr_expect_eq(a.compute.why, rows[i].why, "row %zu", i);
		cr_expect_eq(a.changes, rows[i].why == HOLD_CONVERTS, "row %zu", i);
		cr_expect_eq(a.target.milli, a.changes ? 300 : 1000, "row %zu", i);
		cr_expect_eq(a.target.mib, a.changes ? 7168 : 81920, "row %zu", i);
	}
}

/* --- whatever happens --- */

#define LOOKS_A_DAY (24 * 12)

struct walk {
	struct bed b;
	struct rng rng;
	int64_t percent, mib;
	/* what was wanted at the looks of the last day, in a ring */
	struct share wanted[LOOKS_A_DAY];
	int looks;
};

/* It stays as it is for hours, and then is something else; sometimes nothing is heard. */
static void live_on(struct walk *w)
{
	if (rng_below(&w->rng, 60) == 0) {
		w->percent = (int64_t)rng_below(&w->rng, 101);
		w->mib = 200 + (int64_t)rng_below(&w->rng, 100000);
	}
	if (rng_below(&w->rng, 200) == 0) {
		w->b.now += (int64_t)rng_below(&w->rng, 20) * MINUTE;
	}
	bed_use(&w->b, 5, w->percent, w->mib);
}

static int64_t most_wanted(const struct walk *w, bool memory)
{
	int64_t most = 0;
	for (int i = 0; i < LOOKS_A_DAY && i < w->looks; i++) {
		int64_t value = memory ? w->wanted[i].mib : w->wanted[i].milli;
		most = value > most ? value : most;
	}
	return most;
}

static void expect_sound(const struct walk *w, struct share from, struct share to)
{
	cr_assert(to.milli >= 100 && to.milli <= 1000 && to.milli % 50 == 0);
	cr_assert(to.mib >= 1024 && to.mib <= w->b.device_mib);
	cr_assert(to.mib % 256 == 0 || to.mib == w->b.device_mib);
	/* Whoever asks for more than this within a day of it is served with it. */
	cr_assert(to.milli >= from.milli || to.milli >= most_wanted(w, false));
	cr_assert(to.mib >= from.mib || to.mib >= most_wanted(w, true));
}

Test(hold, whatever_happens_nothing_shrinks_below_what_a_day_asked_for)
{
	static struct walk w;
	int grew = 0, shrank = 0;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct share current = {1000, 80LL * GIB};
		bool whole = true;
		w = (struct walk){.percent = 20, .mib = 6000};
		bed_init(&w.b);
		w.b.sizing.half_life_s = 4 * 3600;
		w.b.sizing.window_s = 2 * 86400;
		history_fit(w.b.history, &w.b.sizing, w.b.now);
		rng_seed(&w.rng, seed);
		for (int look = 0; look < 40 * LOOKS_A_DAY; look++) {
			live_on(&w);
			struct share before = current;
			bool was_whole = whole;
			w.wanted[w.looks++ % LOOKS_A_DAY] = bed_recommend(&w.b).target;
			bed_hold(&w.b, &current, &whole);
			if (!was_whole) {
				expect_sound(&w, before, current);
				grew += current.milli > before.milli;
				shrank += current.milli < before.milli;
			}
		}
		bed_finish(&w.b);
	}
	cr_expect_gt(grew, 20, "%d", grew);
	cr_expect_gt(shrank, 20, "%d", shrank);
}

Test(hold, U14_compute_stays_where_somebody_scales_on_it_and_memory_does_not)
{
	struct history_kept kept = {0};
	struct hold_ask ask = ask_of((struct share){300, 7168}, (struct share){550, 14336});
	ask.keeps_compute = true;
	struct hold_answer a = step(&ask, &kept);
	cr_expect_eq(a.target.milli, 300);
	cr_expect_eq(a.target.mib, 14336);
	cr_expect_eq(a.compute.why, HOLD_SCALED);
	cr_expect_str_eq(hold_why_name(a.compute.why), "HorizontalScalerOnGPU");
	ask.whole = true;
	ask.current = (struct share){1000, 81920};
	a = step(&ask, &kept);
	cr_expect_not(a.changes, "nor is one that is whole converted");
	cr_expect_eq(a.compute.why, HOLD_SCALED);
}
