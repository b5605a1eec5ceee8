/* How many at once, and where. */
#include <criterion/criterion.h>

#include "roll/rollout_budget.h"

#define MINUTE 60000LL
#define START  1767225600000LL

Test(fleet, in_any_ten_minutes_no_more_than_a_share)
{
	struct roll_fleet f = {0};
	f.managed = 60; /* 3 */
	int64_t begun[64];
	size_t count = 0;
	for (int64_t now = START; now < START + 90 * MINUTE; now += 700) {
		if (roll_fleet_due(&f, now) <= now) {
			begun[count++] = now;
			roll_fleet_end(&f, roll_fleet_begin(&f, "n", now));
		}
	}
	for (size_t i = 3; i < count; i++) {
		cr_assert_geq(begun[i] - begun[i - 3], 10 * MINUTE, "%zu", i);
	}
	cr_expect_geq(count, 24);
	roll_fleet_finish(&f);
}

Test(fleet, one_is_always_allowed_and_when_is_told)
{
	struct roll_fleet f = {0};
	cr_expect_eq(roll_fleet_due(&f, START), START);
	roll_fleet_end(&f, roll_fleet_begin(&f, NULL, START));
	int64_t due = roll_fleet_due(&f, START + MINUTE);
	cr_expect_geq(due, START + 10 * MINUTE);
	cr_expect_leq(due, START + 10 * MINUTE + ROLL_BUDGET_STEP_MS);
	cr_expect_gt(roll_fleet_due(&f, due - 1), due - 1);
	cr_expect_eq(roll_fleet_due(&f, due), due);
	/* A clock that goes back lets nobody through. */
	roll_fleet_end(&f, roll_fleet_begin(&f, NULL, due));
	cr_expect_gt(roll_fleet_due(&f, START), START);
	cr_expect_eq(roll_fleet_due(&f, due + 100 * MINUTE), due + 100 * MINUTE);
	roll_fleet_finish(&f);
}

/* Else nobody would be replaced for as long as it had been ahead. */
Test(fleet, a_clock_that_was_far_ahead_is_waited_for_no_longer_than_ten_minutes)
{
	struct roll_fleet f = {0};
	uint64_t id = roll_fleet_begin(&f, NULL, START + 180 * MINUTE);
	int64_t due = roll_fleet_due(&f, START);
	cr_expect_gt(due, START);
	cr_expect_leq(due, START + 10 * MINUTE + ROLL_BUDGET_STEP_MS);
	cr_expect_eq(roll_fleet_due(&f, due), due);
	id = roll_fleet_begin(&f, NULL, START + 180 * MINUTE);
	(void)roll_fleet_due(&f, due);
	roll_fleet_cancel(&f, id);
	cr_expect_eq(roll_fleet_due(&f, due), due, "what was given back counts no more");
	roll_fleet_finish(&f);
}

Test(fleet, one_of_a_node_at_a_time)
{
	struct roll_fleet f = {0};
	uint64_t id = roll_fleet_begin(&f, "n", START);
	cr_expect(roll_fleet_is_busy(&f, "n"));
	cr_expect_not(roll_fleet_is_busy(&f, "m"));
	cr_expect_not(roll_fleet_is_busy(&f, NULL));
	roll_fleet_end(&f, 0);
	cr_expect(roll_fleet_is_busy(&f, "n"));
	roll_fleet_end(&f, id);
	cr_expect_not(roll_fleet_is_busy(&f, "n"));
	id = roll_fleet_begin(&f, NULL, START);
	cr_expect_not(roll_fleet_is_busy(&f, NULL), "where it is nobody knows");
	roll_fleet_cancel(&f, id);
	cr_expect_eq(f.flights.count, 0);
	roll_fleet_finish(&f);
}

/* What was begun before is counted as of now, and given back as often as it was taken. */
Test(fleet, a_clock_that_is_set_right_leaves_no_more_than_was_begun)
{
	struct roll_fleet f = {0};
	f.managed = 1;
	uint64_t old = roll_fleet_begin(&f, "a", START + 180 * MINUTE);
	uint64_t newer = roll_fleet_begin(&f, "b", START + 200 * MINUTE);
	cr_expect_gt(roll_fleet_due(&f, START), START);
	roll_fleet_cancel(&f, old);
	cr_expect_gt(roll_fleet_due(&f, START), START, "the newer one counts");
	roll_fleet_cancel(&f, newer);
	cr_expect_eq(roll_fleet_due(&f, START), START);
	roll_fleet_finish(&f);
}
