/* Peaks by the hour, and minutes that were observed. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "history/history.h"
#include "hours.h"

#define START (1767225600000 + 5 * MINUTE_MS)

static struct hours h;

static void set_up(void)
{
	hours_init(&h, 6 * 3600);
}

static void tear_down(void)
{
	hours_finish(&h);
}

TestSuite(hours, .init = set_up, .fini = tear_down);

Test(hours, the_highest_counts_until_its_hour_left_the_window)
{
	cr_expect_eq(hours_peak(&h, 6, START), -1);
	hours_add_memory(&h, 900, START);
	hours_add_memory(&h, 700, START + 1000);
	for (int64_t hour = 0; hour <= 6; hour++) {
		cr_expect_eq(
			hours_peak(&h, 6, START + hour * HOUR_MS), 900, "%lld", (long long)hour);
		hours_add_memory(&h, 300, START + hour * HOUR_MS);
	}
	cr_expect_eq(hours_peak(&h, 6, START + 7 * HOUR_MS), 300);
	cr_expect_eq(hours_peak(&h, 1, START + 7 * HOUR_MS), 300);
	cr_expect_eq(hours_peak(&h, 1, START + 8 * HOUR_MS), -1, "nothing was told lately");
	cr_expect_eq(hours_peak(&h, 6, START + 13 * HOUR_MS), -1);
}

Test(hours, a_gap_is_not_zero_and_zero_is_no_gap)
{
	hours_add_compute(&h, START);
	cr_expect_eq(hours_peak(&h, 6, START), -1, "only compute was told");
	hours_add_memory(&h, 0, START);
	cr_expect_eq(hours_peak(&h, 6, START), 0);
}

Test(hours, a_minute_counts_once_whoever_tells_it)
{
	int64_t compute, memory;
	for (int64_t i = 0; i < 120; i++) {
		for (int pod = 0; pod < 3; pod++) {
			/* The second tells late, the third a minute later still. */
			hours_add_compute(&h, START + (i - pod) * MINUTE_MS);
			hours_add_memory(&h, 100, START + i * MINUTE_MS);
			hours_add_memory(&h, 100, START + i * MINUTE_MS + 15000);
		}
	}
	hours_observed(&h, START + 119 * MINUTE_MS, &compute, &memory);
	cr_expect_eq(compute, 122, "%lld", (long long)compute);
	cr_expect_eq(memory, 120, "%lld", (long long)memory);
	hours_observed(&h, START + 6 * HOUR_MS, &compute, &memory);
	cr_expect_eq(memory, 120, "all of it is in the window");
	hours_observed(&h, START + 7 * HOUR_MS, &compute, &memory);
	cr_expect_eq(memory, 65, "the first hour is not");
	hours_observed(&h, START + 20 * HOUR_MS, &compute, &memory);
	cr_expect_eq(memory, 0);
}

Test(hours, what_is_told_late_finds_its_hour)
{
	hours_add_memory(&h, 100, START + 3 * HOUR_MS);
	hours_add_memory(&h, 900, START);
	cr_expect_eq(hours_peak(&h, 6, START + 3 * HOUR_MS), 900);
	cr_expect_eq(hours_peak(&h, 2, START + 3 * HOUR_MS), 100);
	hours_add_memory(&h, 5000, START - 9 * HOUR_MS);
	cr_expect_eq(hours_peak(&h, 6, START + 3 * HOUR_MS), 900, "older than the window");
}

Test(hours, a_peak_has_its_limit)
{
	hours_add_memory(&h, (int64_t)1 << 40, START);
	cr_expect_eq(hours_peak(&h, 6, START), HISTORY_MIB_MAX);
}

Test(hours, another_window_keeps_the_latest)
{
	for (int64_t hour = 0; hour < 7; hour++) {
		hours_add_memory(&h, 1000 - hour, START + hour * HOUR_MS);
	}
	int64_t now = START + 6 * HOUR_MS;
	hours_fit(&h, 24 * 3600);
	cr_expect_eq(hours_peak(&h, 24, now), 1000);
	hours_fit(&h, 3 * 3600);
	cr_expect_eq(hours_peak(&h, 24, now), 997);
	hours_fit(&h, 24 * 3600);
	cr_expect_eq(hours_peak(&h, 24, now), 997, "what was dropped is a gap");
}

Test(hours, a_rise_ends_with_a_plateau_or_a_gap)
{
	for (int64_t hour = 0; hour < 5; hour++) {
		cr_expect_eq(hours_rising(&h, START + hour * HOUR_MS), hour > 0 ? hour - 1 : 0);
		hours_add_memory(&h, 1000 + hour * 100, START + hour * HOUR_MS);
		cr_expect_eq(hours_rising(&h, START + hour * HOUR_MS), hour);
	}
	int64_t now = START + 5 * HOUR_MS;
	hours_add_memory(&h, 1400, now);
	cr_expect_eq(hours_rising(&h, now), 4, "this hour is not over");
	now += HOUR_MS;
	hours_add_memory(&h, 1450, now);
	cr_expect_eq(hours_rising(&h, now), 0, "that was a plateau");
	hours_add_memory(&h, 2000, now);
	cr_expect_eq(hours_rising(&h, now), 1);
	hours_add_memory(&h, 3000, now + 2 * HOUR_MS);
	cr_expect_eq(hours_rising(&h, now + 2 * HOUR_MS), 0, "nothing was told for an hour");
	cr_expect_eq(hours_rising(&h, now + 9 * HOUR_MS), 0);
}
