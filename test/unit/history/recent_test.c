/* The median of the last minutes. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "hours.h"
#include "recent.h"

#define START  29453760 /* a minute */
#define NOW(i) (((int64_t)START + (i)) * MINUTE_MS)

Test(recent, a_median_needs_enough_minutes)
{
	struct recent r = {0};
	for (int i = 0; i < HISTORY_RECENT_MIN; i++) {
		cr_expect_eq(recent_median(&r, 98, NOW(i)), -1, "%d", i);
		recent_add(&r, 40000, START + i);
	}
	cr_expect_eq(recent_median(&r, 98, NOW(HISTORY_RECENT_MIN)), 40000);
	cr_expect_eq(recent_median(&r, 98, NOW(HISTORY_RECENT)), 40000);
	cr_expect_eq(
		recent_median(&r, 98, NOW(HISTORY_RECENT + 1)), -1, "the first one is too old");
}

Test(recent, a_gap_is_left_out)
{
	struct recent r = {0};
	for (int i = 0; i < 15; i++) {
		if (i % 3 != 0) {
			recent_add(&r, i < 8 ? 10000 : 50000, START + i);
		}
	}
	/* Five before the eighth minute, five from there: the lower one of the middle. */
	cr_expect_eq(recent_median(&r, 98, NOW(15)), 10000);
	recent_add(&r, 50000, START + 12);
	cr_expect_eq(recent_median(&r, 98, NOW(15)), 50000);
}

Test(recent, few_replicas_count_by_the_highest_and_many_by_their_mean)
{
	static const struct {
		int32_t replicas, percentile;
		int64_t median;
	} rows[] = {
		{1, 98, 90000},
		{3, 98, 90000},
		{49, 98, 90000},
		{50, 98, 11600},
		{100, 98, 10800},
		{100, 100, 90000},
		{3, 50, 36660},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct recent r = {0};
		for (int32_t minute = 0; minute < 15; minute++) {
			for (int32_t k = 0; k < rows[i].replicas; k++) {
				recent_add(&r, k == 0 ? 90000 : 10000, START + minute);
			}
		}
		int64_t median = recent_median(&r, rows[i].percentile, NOW(15));
		cr_expect_eq(median, rows[i].median, "row %zu: %lld", i, (long long)median);
	}
}

Test(recent, what_comes_late_finds_its_minute)
{
	struct recent r = {0};
	for (int32_t i = 0; i < 30; i++) {
		recent_add(&r, 20000, START + i);
		recent_add(&r, 60000, START + i - 1);
		recent_add(&r, 99000, START + i - 15);
	}
	cr_expect_eq(recent_median(&r, 98, NOW(30)), 60000);
}
