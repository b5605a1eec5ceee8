/* The histogram against the arithmetic it stands for. */
#include <criterion/criterion.h>

#include "base/alloc.h"
#include "base/str.h"
#include "levels.h"

#define START 1767225600000
#define HOUR  3600000LL
#define DAY   (24 * HOUR)
/* 2^(-5/24) */
#define FIVE_HOURS 0.865536561006

static uint64_t total_of(const struct levels *l)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < LEVELS; i++) {
		total += levels_weight(l, i);
	}
	return total;
}

Test(levels, a_sample_weighs_half_after_each_half_life)
{
	double truth = 1;
	for (int hours = 0; hours <= 120; hours += 5, truth *= FIVE_HOURS) {
		struct levels l;
		levels_init(&l, 86400, 604800);
		levels_add(&l, 10, START + 7 * HOUR / 3);
		levels_add(&l, 20, START + 7 * HOUR / 3 + hours * HOUR);
		double share = (double)levels_weight(&l, 10) / (double)levels_weight(&l, 20);
		double error = share / truth - 1;
		cr_expect(
			error > -0.0005 && error < 0.0005, "%d h: %f for %f", hours, share, truth);
		levels_finish(&l);
	}
}

/* The order in which they are told does not matter: a bootstrap tells the past late. */
Test(levels, what_is_told_late_weighs_what_it_would_have)
{
	struct levels early, late;
	levels_init(&early, 86400, 604800);
	levels_init(&late, 86400, 604800);
	levels_add(&early, 10, START);
	levels_add(&early, 20, START + 60 * HOUR);
	levels_add(&late, 20, START + 60 * HOUR);
	levels_add(&late, 10, START);
	double a = (double)levels_weight(&early, 10) / levels_weight(&early, 20);
	double c = (double)levels_weight(&late, 10) / levels_weight(&late, 20);
	cr_expect(a - c < 0.001 && c - a < 0.001, "%f and %f", a, c);
	levels_finish(&early);
	levels_finish(&late);
}

Test(levels, a_percentile_is_the_lowest_level_that_holds_so_much)
{
	struct levels l;
	levels_init(&l, 86400, 604800);
	cr_expect_eq(levels_percentile(&l, 98, START), -1);
	for (uint32_t i = 0; i < 100; i++) {
		levels_add(&l, i, START);
	}
	cr_expect_eq(levels_percentile(&l, 1, START), 0);
	cr_expect_eq(levels_percentile(&l, 50, START), 49);
	cr_expect_eq(levels_percentile(&l, 98, START), 97);
	cr_expect_eq(levels_percentile(&l, 100, START), 99);
	levels_finish(&l);
}

Test(levels, a_level_that_was_not_seen_for_the_window_is_forgotten)
{
	struct levels l;
	levels_init(&l, 86400, 604800);
	levels_add(&l, 90, START);
	for (int64_t at = START; at <= START + 9 * DAY; at += HOUR) {
		levels_add(&l, 10, at);
		int32_t top = levels_percentile(&l, 100, at);
		if (at <= START + 7 * DAY) {
			cr_assert_eq(top, 90, "after %lld h", (long long)((at - START) / HOUR));
		} else if (at > START + 7 * DAY + 3 * HOUR) {
			cr_assert_eq(top, 10);
		}
	}
	cr_expect_eq(levels_percentile(&l, 100, START + 30 * DAY), -1, "nothing was said since");
	levels_finish(&l);
}

/* The half life is at most the window. */
Test(levels, a_long_half_life_forgets_with_the_window_all_the_same)
{
	struct levels l;
	levels_init(&l, 2592000, 86400);
	cr_expect_eq(l.half_life_s, 86400);
	for (int64_t at = START; at < START + DAY; at += 60000) {
		levels_add(&l, 80, at);
	}
	for (int64_t at = START + DAY; at < START + 2 * DAY + HOUR; at += 60000) {
		levels_add(&l, 5, at);
	}
	cr_expect_eq(levels_percentile(&l, 98, START + 2 * DAY + HOUR), 5);
	levels_finish(&l);
}

/* A thousand replicas for a month: the sum would not fit. */
Test(levels, a_full_histogram_keeps_its_proportions)
{
	struct levels l;
	levels_init(&l, 2592000, 2592000);
	for (int64_t i = 0; i < 30 * 24 * 60; i += 10) {
		for (uint32_t k = 0; k < 1000; k++) {
			levels_add(&l, k % 10 == 0 ? 70 : 20, START + i * 60000);
		}
	}
	cr_expect_gt(l.scale, 0);
	double share = (double)levels_weight(&l, 70) / (double)total_of(&l);
	cr_expect(share > 0.099 && share < 0.101, "%f", share);
	for (uint32_t i = 0; i < LEVELS; i++) {
		cr_assert_lt(levels_weight(&l, i), LEVELS_FULL);
	}
	/* It gives the room back as the sum becomes small again. */
	uint8_t before = l.scale;
	for (int64_t at = START + 30 * DAY; at < START + 150 * DAY; at += HOUR) {
		levels_add(&l, 20, at);
	}
	cr_expect_lt(l.scale, before);
	levels_finish(&l);
}

Test(levels, after_a_long_gap_it_begins_anew)
{
	struct levels l;
	levels_init(&l, 3600, 604800);
	levels_add(&l, 50, START);
	levels_add(&l, 10, START + 6 * DAY);
	cr_expect_eq(levels_weight(&l, 50), 0);
	cr_expect_eq(levels_percentile(&l, 98, START + 6 * DAY), 10);
	levels_add(&l, 30, START - 30 * DAY);
	cr_expect_eq(levels_percentile(&l, 100, START + 6 * DAY), 10, "older than the window");
	levels_finish(&l);
}

Test(levels, a_censored_sample_moves_no_percentile_above_it)
{
	struct levels l;
	levels_init(&l, 86400, 604800);
	for (int64_t i = 0; i < 7 * 1440; i++) {
		levels_add(&l, i % 20 == 0 ? 60 : 40, START + i * 60000);
	}
	cr_expect_eq(levels_percentile(&l, 98, START + 7 * DAY), 60);
	cr_expect_eq(levels_percentile(&l, 90, START + 7 * DAY), 40);
	for (int64_t i = 7 * 1440; i < 20 * 1440; i++) {
		levels_add_censored(&l, 29, START + i * 60000);
	}
	cr_expect_eq(levels_percentile(&l, 98, START + 20 * DAY), 60);
	cr_expect_eq(levels_percentile(&l, 90, START + 20 * DAY), 40);
	/* Where nothing is known above, it is known to be there at least. */
	levels_finish(&l);
	levels_init(&l, 86400, 604800);
	levels_add_censored(&l, 29, START);
	cr_expect_eq(levels_percentile(&l, 98, START), 29);
	levels_finish(&l);
}

Test(levels, another_policy_keeps_what_is_known)
{
	struct levels l;
	levels_init(&l, 86400, 604800);
	for (int64_t i = 0; i < 2 * 1440; i++) {
		levels_add(&l, i % 10 == 0 ? 60 : 40, START + i * 60000);
	}
	levels_fit(&l, 3600, 86400, START + 2 * DAY);
	cr_expect_eq(levels_percentile(&l, 98, START + 2 * DAY), 60);
	for (int64_t i = 0; i < 60; i++) {
		levels_add(&l, 20, START + 2 * DAY + i * 60000);
	}
	/* A sample of then weighs at most half of one of now; but there are many. */
	cr_expect_eq(levels_percentile(&l, 50, START + 2 * DAY + HOUR), 40);
	for (int64_t i = 60; i < 12 * 60; i++) {
		levels_add(&l, 20, START + 2 * DAY + i * 60000);
	}
	cr_expect_eq(levels_percentile(&l, 98, START + 2 * DAY + 12 * HOUR), 20);
	levels_fit(&l, 86400, 604800, START + 2 * DAY + 12 * HOUR);
	cr_expect_eq(levels_percentile(&l, 100, START + 2 * DAY + 12 * HOUR), 60, "seen 12 h ago");
	levels_fit(&l, 3600, 3600, START + 2 * DAY + 12 * HOUR);
	cr_expect_eq(levels_percentile(&l, 100, START + 2 * DAY + 12 * HOUR), 20);
	levels_finish(&l);
}

/* There is a histogram for each workload, and nearly all of them are at few levels. */
Test(levels, only_those_that_were_seen_take_memory)
{
	struct levels l;
	levels_init(&l, 3600, 604800);
	cr_expect_eq(levels_bytes(&l), 0);
	cr_expect_eq(levels_percentile(&l, 50, START), -1);
	static const uint32_t seen[] = {40, 20, 99, 0, 30, 20};
	for (uint32_t i = 0; i < COUNT_OF(seen); i++) {
		levels_add(&l, seen[i], START);
	}
	cr_expect_eq(l.count, 5);
	cr_expect_leq(levels_bytes(&l), 8 * 6);
	cr_expect_eq(levels_weight(&l, 20), 2 * levels_weight(&l, 40));
	cr_expect_eq(levels_weight(&l, 21), 0);
	for (uint32_t i = 0; i < LEVELS; i++) {
		levels_add(&l, LEVELS - 1 - i, START);
	}
	cr_expect_eq(l.count, LEVELS);
	cr_expect_eq(levels_bytes(&l), LEVELS * 6);
	/* What is forgotten makes room for others. */
	levels_add(&l, 7, START + 8 * DAY);
	cr_expect_eq(l.count, 1);
	cr_expect_eq(levels_percentile(&l, 1, START + 8 * DAY), 7);
	levels_finish(&l);
}

/* Weights of the others stay at their levels whatever comes and goes between them. */
Test(levels, what_is_kept_is_what_was_told_in_any_order)
{
	struct levels l;
	uint32_t told[LEVELS] = {0}, number = 12345;
	levels_init(&l, 86400, 604800);
	for (int i = 0; i < 3000; i++) {
		number = number * 1103515245 + 12345;
		uint32_t level = (number >> 16) % LEVELS;
		levels_add(&l, level, START);
		told[level]++;
	}
	uint64_t one = total_of(&l) / 3000;
	for (uint32_t i = 0; i < LEVELS; i++) {
		cr_assert_eq(levels_weight(&l, i), told[i] * one, "level %u", i);
	}
	struct str bytes = STR_INIT(4096);
	struct levels again;
	levels_pack(&l, &bytes);
	struct unpack u = {.p = str_text(&bytes), .n = bytes.len};
	levels_unpack(&again, &u);
	cr_expect(!u.bad && u.n == 0);
	for (uint32_t i = 0; i < LEVELS; i++) {
		cr_assert_eq(levels_weight(&again, i), told[i] * one, "level %u", i);
	}
	levels_finish(&again);
	levels_finish(&l);
	str_finish(&bytes);
}

/* Of what is now three times as much a level is a third, up to the next whole one. */
Test(levels, another_scale_moves_all_up)
{
	struct levels l;
	levels_init(&l, 86400, 604800);
	for (uint32_t i = 0; i < LEVELS; i++) {
		levels_add(&l, i, START);
	}
	uint64_t total = total_of(&l);
	levels_shrink(&l, 1000, 1000);
	cr_expect_eq(levels_percentile(&l, 100, START), 99);
	levels_shrink(&l, 1000, 3000);
	cr_expect_eq(total_of(&l), total);
	cr_expect_eq(levels_percentile(&l, 100, START), 33, "100 of 300 are in the 34th");
	cr_expect_eq(levels_percentile(&l, 3, START), 0, "three of a hundred are in the first");
	cr_expect_eq(levels_percentile(&l, 4, START), 1);
	l.weights[5] = l.weights[6] = LEVELS_FULL - 1;
	levels_shrink(&l, 1, INT64_MAX / (2 * LEVELS));
	cr_expect_eq(levels_weight(&l, 0), LEVELS_FULL - 1);
	cr_expect_eq(l.count, 1);
	levels_finish(&l);
}

Test(levels, of_what_comes_together_the_latest_counts)
{
	struct levels l;
	levels_init(&l, 86400, 604800);
	levels_add(&l, 0, START);
	levels_add(&l, 1, START + 3 * DAY);
	levels_add(&l, 30, START);
	levels_shrink(&l, 1, 3);
	cr_expect_eq(levels_percentile(&l, 100, START + 4 * DAY), 10);
	cr_expect_eq(levels_percentile(&l, 100, START + 8 * DAY), 0, "what is gone is gone");
	cr_expect_eq(levels_percentile(&l, 100, START + 11 * DAY), -1);
	levels_finish(&l);
}
