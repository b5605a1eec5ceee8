/* Healing: its scenarios by their numbers. The policy is real-time inference's, the device has 80
 * GiB; what is healed has arrived at the next look unless a test says otherwise. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "bed.h"
#include "right/heal.h"

static const struct sizing real_time = SIZING_DEFAULT;
static struct sizing sizing;
static struct heal heal;
static struct heal_ask ask;
static struct heal_answer last;

static void set_up(void)
{
	sizing = real_time;
	heal = (struct heal){0};
	ask = (struct heal_ask){.sizing = &sizing,
		.now_ms = START,
		.allocated = {300, 8 * GIB},
		.recommended = {300, 8 * GIB},
		.sure = true,
		.device_mib = 80 * GIB,
		.blame = BLAME_OWN,
		.used_mib = METERED_ABSENT};
}

TestSuite(heal, .init = set_up);

/* One look; what comes of it is in force at the next. */
static const struct heal_answer *step(void)
{
	heal_step(&heal, &ask, &last);
	ask.allocated = last.target;
	ask.denied = false;
	ask.press = PRESS_NONE;
	return &last;
}

static const struct heal_answer *deny(int64_t after)
{
	ask.now_ms += after;
	ask.denied = true;
	return step();
}

Test(heal, H1_one_denied_allocation_is_a_fifth_more)
{
	const struct heal_answer *a = deny(0);
	cr_expect_eq(a->target.mib, 9 * GIB + 768);
	cr_expect_eq(a->target.milli, 300);
	cr_expect(a->acted);
	cr_expect_eq(a->saw, HEAL_DENIED);
	cr_expect_eq(a->told.kind, HEALING_MEMORY);
	cr_expect_eq(a->told.until_ms, START + 24 * HOUR);
	cr_expect_eq(a->told.step, 1);
	cr_expect_eq(a->blocked_ms, START + 24 * HOUR);
	cr_expect_not(a->capped);
}

Test(heal, H2_a_small_share_grows_by_a_gibibyte)
{
	ask.allocated.mib = ask.recommended.mib = 2 * GIB;
	cr_expect_eq(deny(0)->target.mib, 3 * GIB);
}

Test(heal, H3_again_within_an_hour_is_half_more_then_all)
{
	deny(0);
	const struct heal_answer *a = deny(20 * MINUTE);
	cr_expect_eq(a->target.mib, 14 * GIB + 768);
	cr_expect_eq(a->told.step, 2);
	cr_expect_not(heal.exhausted);
	a = deny(20 * MINUTE);
	cr_expect_eq(a->target.mib, 80 * GIB);
	cr_expect_not(heal.exhausted, "it has not failed there yet");
	a = deny(20 * MINUTE);
	cr_expect(heal.exhausted);
	cr_expect_eq(a->target.mib, 80 * GIB);
	cr_expect_not(a->acted);
}

Test(heal, H3_after_an_hour_it_is_a_first_one_again)
{
	deny(0);
	cr_expect_eq(deny(HOUR + MINUTE)->target.mib, 11 * GIB + 768, "9.75 and a fifth");
	cr_expect_eq(last.told.step, 1);
}

Test(heal, H3_who_has_not_got_the_last_step_asks_for_no_other)
{
	deny(0);
	/* One replica has it, and those that wait for theirs end again. */
	for (int i = 0; i < 5; i++) {
		ask.denied_of_mib = 8 * GIB;
		cr_assert_eq(deny(5 * MINUTE)->target.mib, 9 * GIB + 768);
		cr_assert_eq(last.told.step, 1);
		cr_assert_eq(last.told.until_ms, ask.now_ms + 24 * HOUR, "it is held for them");
	}
	ask.denied_of_mib = 9 * GIB + 768;
	cr_expect_eq(deny(5 * MINUTE)->target.mib, 14 * GIB + 768);
}

/* kubernetes/autoscaler#9521: a bump that feeds on itself. */
Test(heal, H4_a_cap_ends_it)
{
	sizing.max_mem_mib = 10 * GIB;
	deny(0);
	for (int i = 0; i < 50; i++) {
		int64_t allocated = ask.allocated.mib;
		const struct heal_answer *a = deny(5 * MINUTE);
		cr_assert_eq(a->target.mib, 10 * GIB);
		cr_assert(a->capped);
		cr_assert_eq(a->acted, i == 0);
		cr_assert_leq(a->uncapped.mib, (allocated * 3 / 2 + 255) / 256 * 256);
		cr_assert_eq(a->blocked_ms, ask.now_ms + 24 * HOUR, "and nothing shrinks");
	}
	cr_expect_not(heal.exhausted);
}

Test(heal, a_step_that_has_not_arrived_is_not_taken_again)
{
	ask.denied = true;
	for (int i = 0; i < 100; i++, ask.now_ms += 15000) {
		heal_step(&heal, &ask, &last);
		cr_assert_eq(last.target.mib, 9 * GIB + 768, "look %d", i);
		cr_assert_eq(last.acted, i == 0);
	}
	cr_expect_eq(last.told.step, 1);
}

Test(heal, what_is_used_beyond_the_share_counts)
{
	ask.used_mib = 12 * GIB;
	cr_expect_eq(deny(0)->target.mib, 14 * GIB + 512);
}

Test(heal, H5_it_stays_for_the_hold_and_goes_step_by_step)
{
	deny(0);
	deny(20 * MINUTE);
	int64_t until = ask.now_ms + 24 * HOUR;
	ask.recommended.mib = 1 * GIB + 256;
	for (; ask.now_ms < until; ask.now_ms += 5 * MINUTE) {
		cr_assert_eq(step()->target.mib, 14 * GIB + 768);
	}
	int64_t before = 14 * GIB + 768, changed = 0;
	int steps = 0;
	for (; ask.now_ms < until + 24 * HOUR && step()->healing; ask.now_ms += 5 * MINUTE) {
		cr_assert_eq(last.blocked_ms, 0);
		if (last.target.mib == before) {
			continue;
		}
		cr_assert_leq(last.target.mib, before - GIB);
		cr_assert_geq(last.target.mib, before * 100 / 120 - GIB);
		cr_assert(changed == 0 || ask.now_ms - changed == 30 * MINUTE);
		before = last.target.mib;
		changed = ask.now_ms;
		steps++;
	}
	cr_expect_geq(steps, 5);
	cr_expect_eq(last.target.mib, 1 * GIB + 256);
	cr_expect_eq(heal.memory.value, 0);
}

Test(heal, H5_nothing_goes_while_too_little_is_known)
{
	deny(0);
	ask.press = PRESS_MORE;
	step();
	ask.recommended = (struct share){100, 1 * GIB};
	ask.sure = false;
	for (int hour = 0; hour < 48; hour++, ask.now_ms += HOUR) {
		cr_assert_eq(step()->target.mib, 9 * GIB + 768, "hour %d", hour);
		cr_assert_eq(last.target.milli, 400);
		cr_assert(last.healing);
	}
	ask.sure = true;
	cr_expect_lt(step()->target.mib, 9 * GIB + 768);
	cr_expect_lt(last.target.milli, 400);
}

Test(heal, H6_pressure_adds_ten_points_at_least)
{
	ask.press = PRESS_MORE;
	const struct heal_answer *a = step();
	cr_expect_eq(a->target.milli, 400);
	cr_expect_eq(a->saw, HEAL_PRESSED);
	cr_expect_eq(a->told.kind, HEALING_COMPUTE);
	cr_expect_eq(a->told.until_ms, START + 6 * HOUR);
	cr_expect_eq(a->target.mib, 8 * GIB);
	/* Again each ten minutes while it lasts. */
	ask.now_ms += 9 * MINUTE;
	ask.press = PRESS_MORE;
	cr_expect_eq(step()->target.milli, 400);
	static const int64_t then[] = {550, 750, 1000, 1000};
	for (size_t i = 0; i < COUNT_OF(then); i++) {
		ask.now_ms += 10 * MINUTE;
		ask.press = PRESS_MORE;
		cr_expect_eq(step()->target.milli, then[i], "%lld", (long long)last.target.milli);
	}
	cr_expect(last.capped);
}

Test(heal, H6_who_has_not_got_the_last_step_asks_for_no_other)
{
	ask.press = PRESS_MORE;
	step();
	for (int i = 0; i < 5; i++) {
		ask.now_ms += 10 * MINUTE;
		ask.press = PRESS_MORE;
		ask.pressed_milli = 300; /* one replica has 400 */
		cr_assert_eq(step()->target.milli, 400);
	}
	/* It comes to them: ten minutes with it tell whether it does. */
	for (int minute = 1; minute <= 10; minute++) {
		ask.now_ms += MINUTE;
		ask.press = PRESS_MORE;
		ask.pressed_milli = 400;
		cr_assert_eq(step()->target.milli, minute < 10 ? 400 : 550, "minute %d", minute);
	}
}

Test(heal, H6_no_more_than_the_policy_allows)
{
	sizing.max_percent = 35;
	ask.press = PRESS_MORE;
	cr_expect_eq(step()->target.milli, 350);
	cr_expect(last.capped);
	cr_expect_eq(last.uncapped.milli, 400);
}

Test(heal, H9_contention_asks_for_another_gpu_and_no_larger_share)
{
	ask.press = PRESS_CONTENTION;
	const struct heal_answer *a = step();
	cr_expect(a->contention);
	cr_expect_eq(a->saw, HEAL_CONTENTION);
	cr_expect_eq(a->target.milli, 300);
	cr_expect_not(a->healing);
}

Test(heal, C29_who_ran_out_through_others_does_not_grow)
{
	ask.blame = BLAME_OTHERS;
	cr_expect_eq(deny(0)->target.mib, 8 * GIB);
	cr_expect(last.contention);
	ask.blame = BLAME_UNKNOWN;
	cr_expect_eq(deny(MINUTE)->target.mib, 8 * GIB);
	cr_expect_eq(last.saw, HEAL_DENIED);
	cr_expect_not(last.acted);
	ask.blame = BLAME_OWN;
	cr_expect_eq(deny(MINUTE)->target.mib, 9 * GIB + 768);
}

/* Kills of the host are none: src/pods/pod_oom.c tells none as a failure. */
Test(heal, H10_what_ends_full_ends_for_want_of_memory)
{
	static const struct {
		struct heal_exit exit;
		bool memory;
	} rows[] = {
		{{true, 8192, 8192}, true},
		{{false, 7373, 8192}, true},
		{{false, 7372, 8192}, false},
		{{false, METERED_ABSENT, 8192}, false},
		{{true, METERED_ABSENT, 8192}, true},
		{{false, 100, 0}, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(heal_exit_is_memory(&rows[i].exit), rows[i].memory, "row %zu", i);
	}
}

Test(heal, H11_a_shrink_that_breaks_it_is_undone)
{
	ask.allocated = ask.recommended = (struct share){200, 8 * GIB};
	ask.shrunk_ms = START - 5 * MINUTE;
	ask.shrunk_from = (struct share){400, 12 * GIB};
	ask.restarts = 1;
	cr_expect_eq(step()->target.milli, 200);
	ask.restarts = 2;
	const struct heal_answer *a = step();
	cr_expect_eq(a->target.milli, 400);
	cr_expect_eq(a->target.mib, 12 * GIB);
	cr_expect_eq(a->told.kind, HEALING_ROLLBACK);
	cr_expect_eq(a->told.until_ms, START + 72 * HOUR);
	cr_expect_eq(a->saw, HEAL_RESTARTS_LOOP);
	cr_expect(heal.paused);
	/* Once; it stays although the restarts are still counted, and paused until somebody says.
	 */
	for (int hour = 1; hour < 72; hour++) {
		ask.now_ms = START + hour * HOUR;
		cr_assert_eq(step()->target.milli, 400);
		cr_assert_not(last.acted);
	}
	ask.now_ms = START + 80 * HOUR;
	step();
	cr_expect(heal.paused);
	heal_resume(&heal);
	cr_expect_not(heal.paused);
}

Test(heal, H11_what_was_healed_since_the_shrink_is_not_undone_with_it)
{
	ask.allocated = ask.recommended = (struct share){200, 8 * GIB};
	ask.shrunk_ms = START - 5 * MINUTE;
	ask.shrunk_from = (struct share){400, 8 * GIB};
	cr_assert_eq(deny(0)->target.mib, 9 * GIB + 768);
	ask.restarts = 2;
	ask.now_ms += MINUTE;
	cr_expect_eq(step()->target.milli, 400);
	cr_expect_eq(last.target.mib, 9 * GIB + 768);
}

Test(heal, H12_a_leak_stops_growing)
{
	ask.grows = true;
	int64_t used = 7 * GIB;
	int raised = 0;
	ask.allocated.mib = ask.recommended.mib = 8 * GIB;
	for (int minute = 0; minute < 12 * 60; minute++, ask.now_ms += MINUTE) {
		ask.used_mib = used + minute * GIB / 60;
		ask.used_mib = ask.used_mib < ask.allocated.mib ? ask.used_mib : ask.allocated.mib;
		ask.rising_hours = minute / 60;
		ask.recommended.mib = (ask.used_mib * 115 / 100 + 255) / 256 * 256;
		ask.recommended.mib = ask.recommended.mib < ask.allocated.mib ? ask.recommended.mib
									      : ask.allocated.mib;
		bool leaked = heal.leaking;
		raised += step()->acted;
		cr_assert_not(leaked && last.acted);
	}
	cr_expect(heal.leaking);
	cr_expect_geq(raised, 2);
	int64_t stopped = ask.allocated.mib;
	ask.recommended.mib = stopped + 10 * GIB;
	cr_expect_eq(deny(MINUTE)->target.mib, stopped, "nor by its peak");
	cr_expect_not(last.acted);
	heal_resume(&heal);
	ask.rising_hours = 0;
	cr_expect_gt(deny(MINUTE)->target.mib, stopped);
}

Test(heal, near_the_limit_for_five_minutes_is_a_signal_of_what_grows)
{
	ask.grows = true;
	ask.used_mib = 7 * GIB + 870; /* 98 % */
	for (int minute = 0; minute < 5; minute++, ask.now_ms += MINUTE) {
		cr_expect_eq(step()->target.mib, 8 * GIB, "minute %d", minute);
	}
	cr_expect_eq(step()->target.mib, 9 * GIB + 768);
	cr_expect_eq(last.saw, HEAL_NEAR_LIMIT);
	set_up();
	ask.used_mib = 8 * GIB;
	for (int minute = 0; minute < 60; minute++, ask.now_ms += MINUTE) {
		cr_expect_eq(step()->saw, HEAL_QUIET, "what took it all at start is always near");
	}
}

Test(heal, H13_where_it_is_disabled_it_is_only_said)
{
	sizing.heal_memory.enabled = sizing.heal_compute.enabled = false;
	const struct heal_answer *a = deny(0);
	cr_expect_eq(a->saw, HEAL_DENIED);
	cr_expect_eq(a->target.mib, 8 * GIB);
	cr_expect_not(a->healing);
	ask.press = PRESS_MORE;
	cr_expect_eq(step()->saw, HEAL_PRESSED);
	cr_expect_eq(last.target.milli, 300);
	cr_expect_eq(last.blocked_ms, 0);
}

Test(heal, a_recommendation_that_is_more_counts)
{
	deny(0);
	ask.recommended.mib = 20 * GIB;
	cr_expect_eq(step()->target.mib, 20 * GIB);
	cr_expect(last.healing);
}

Test(heal, it_is_found_again_after_a_restart)
{
	deny(0);
	deny(20 * MINUTE);
	struct heal again;
	heal_restore(&again, &last.told, last.target, &sizing);
	cr_expect_eq(again.memory.last_ms, START + 20 * MINUTE);
	cr_expect_eq(again.memory.value, heal.memory.value);
	cr_expect_eq(again.memory.until_ms, heal.memory.until_ms);
	cr_expect_eq(again.memory.step, 2);
	cr_expect_eq(again.compute.value, 0);
	heal = again;
	ask.now_ms += 5 * HOUR;
	cr_expect_eq(step()->target.mib, 14 * GIB + 768);
	struct recommended_healing none = {0};
	heal_restore(&again, &none, last.target, &sizing);
	cr_expect_eq(again.memory.value, 0);
}

/* As who uses all of it does: what healing adds stays apart from what is held. */
Test(heal, H5_after_it_what_is_recommended_is_in_force_again)
{
	struct bed b;
	struct share held = {1000, 80LL * GIB};
	bool whole = true;
	bed_init(&b);
	bed_use(&b, 24 * 60, 20, 6 * GIB);
	bed_hold(&b, &held, &whole);
	cr_assert_eq(held.mib, 7 * GIB);
	int64_t healed = b.now, at_rest = 0;
	for (int look = 0; look < 30 * 12 && at_rest == 0; look++) {
		struct hold_answer a = bed_hold(&b, &held, &whole);
		cr_assert_eq(a.target.mib, 7 * GIB);
		cr_assert_eq(history_kept(b.history)->held.mib, 7 * GIB);
		ask.now_ms = b.now;
		ask.recommended = a.target;
		ask.allocated = look == 0 ? a.target : last.target;
		ask.denied = look == 0;
		heal_step(&heal, &ask, &last);
		at_rest = last.target.mib == 7 * GIB ? b.now : 0;
		if (b.now < healed + DAY) {
			cr_assert_eq(last.target.mib, 8 * GIB + 512);
		}
		bed_use(&b, 5, 20, 6 * GIB);
	}
	/* A day, then two steps of which the second would be below. */
	cr_expect_eq(at_rest - healed, DAY + 30 * MINUTE);
	cr_expect_not(last.healing);
	bed_finish(&b);
}
