/* What follows from what serving frameworks tell of their pools. Units of 2 MiB beside 16 GiB. */
#include <criterion/criterion.h>

#include "bed.h"
#include "history/pool.h"

#define FULL  METERED_GAUGE_FULL
#define BASE  16384
#define LARGE 29491 /* 57.6 GiB */

static struct history *h;
static int64_t now;
static struct history_pool_sample sample;

static void set_up(void)
{
	h = history_create();
	now = START;
	sample = (struct history_pool_sample){.print = 1,
		.engine = APP_VLLM,
		.alike = true,
		.units = METERED_ABSENT,
		.in_bytes = METERED_ABSENT,
		.used = METERED_ABSENT,
		.mem_mib = METERED_ABSENT};
}

static void tear_down(void)
{
	history_destroy(h);
}

TestSuite(pool, .init = set_up, .fini = tear_down);

static struct history_pool known(int32_t percentile)
{
	struct history_pool p;
	history_pool(h, percentile, now, &p);
	return p;
}

/* Each minute, a pod with so many units of which so many percent are in use, and so much more
 * memory than it needs. */
static struct history_pool tell(int64_t minutes, int64_t units, int64_t percent, int64_t more)
{
	for (int64_t i = 0; i < minutes; i++, now += MINUTE) {
		sample.units = units;
		sample.used = percent * FULL / 100;
		sample.mem_mib = BASE + units * 2 + more;
		history_take_pool(h, &sample, now);
	}
	return known(99);
}

Test(pool, nothing_is_told)
{
	cr_expect(!known(99).told);
	history_starved(h, now);
	cr_expect(!known(99).starved && !known(99).told);
	history_take_pool(h, &sample, now);
	struct history_pool p = known(99);
	cr_expect(p.told && !p.counted && !p.sized, "it has one, and that is all");
	cr_expect(p.use_mib == -1 && p.rest_mib == -1 && p.engine == APP_VLLM);
	sample.units = HISTORY_POOL_UNITS_MAX + 1;
	sample.used = FULL;
	history_take_pool(h, &sample, now);
	cr_expect(!known(99).counted, "that is no size");
}

/* --- what is told in bytes --- */

Test(pool, bytes_that_are_told_are_taken)
{
	sample.in_bytes = INT64_C(2) * LARGE << 20;
	struct history_pool p = tell(60, LARGE, 20, 0);
	cr_expect(p.sized && p.counted && p.minutes == 60);
	cr_expect_eq(p.rest_mib, BASE);
	cr_expect_eq(p.use_mib, 11797, "%lld", (long long)p.use_mib);
	cr_expect_eq(known(50).use_mib, 11797);
	/* What it takes beside its pool is the most that was seen. */
	p = tell(1, LARGE, 20, 300);
	cr_expect_eq(p.rest_mib, BASE + 300);
	p = tell(60, LARGE, 20, 100);
	cr_expect_eq(p.rest_mib, BASE + 300);
	p = tell(60, LARGE, 20, -50);
	cr_expect_eq(p.rest_mib, BASE + 300, "the most less the least, and that is less now");
}

/* A pool that is larger than all that is used is none. */
Test(pool, bytes_that_cannot_be_are_not_believed)
{
	sample.in_bytes = INT64_C(80) << 30;
	struct history_pool p = tell(60, LARGE, 20, 0);
	cr_expect(p.counted && !p.sized && p.rest_mib == -1);
}

/* --- what is learnt --- */

Test(pool, one_size_says_nothing_of_a_unit)
{
	struct history_pool p = tell(24 * 60, LARGE, 20, 0);
	cr_expect(p.told && p.counted && !p.sized);
	cr_expect(p.use_mib == -1 && p.rest_mib == -1);
}

Test(pool, two_sizes_say_what_a_unit_takes)
{
	tell(60, LARGE, 20, 0);
	struct history_pool p = tell(29, 12000, 49, 0);
	cr_expect(!p.sized, "half an hour of each, at least");
	p = tell(2, 12000, 49, 0);
	cr_expect(p.sized);
	cr_expect_eq(p.rest_mib, BASE);
	cr_expect_eq(
		p.use_mib, 11797, "its use means the same in both: %lld", (long long)p.use_mib);
	/* A third one changes nothing of that, whether the others still run or not. */
	p = tell(5, 20000, 29, 500);
	cr_expect(p.sized && p.rest_mib == BASE);
	now += HOUR;
	p = tell(60, 20000, 29, 0);
	cr_expect(p.sized && p.rest_mib == BASE);
}

Test(pool, in_whatever_order)
{
	tell(60, 12000, 49, 0);
	struct history_pool p = tell(31, LARGE, 20, 0);
	cr_expect(p.sized && p.rest_mib == BASE);
	/* What was seen first was of a smaller pool: it is rounded up to hundredths of this one. */
	cr_expect_eq(p.use_mib, 11797, "%lld", (long long)p.use_mib);
}

Test(pool, sizes_that_are_near_say_nothing)
{
	tell(60, 1000, 20, 0);
	cr_expect(!tell(60, 751, 20, 0).sized);
	now += HOUR;
	cr_expect(tell(60, 750, 20, 0).sized);
}

Test(pool, nor_do_pods_of_different_templates)
{
	sample.alike = false;
	tell(60, LARGE, 20, 0);
	cr_expect(!tell(60, 12000, 20, 0).sized);
}

/* Whatever else a process takes, more or less of it with time: the rest is never less than it is,
 * and so the pool never more. */
Test(pool, it_is_never_taken_for_too_large)
{
	static const int64_t more[][3] = {
		{0, 0, 800}, {0, 900, 0}, {400, 700, 100}, {600, 100, 0}, {0, 30, 1200}};
	for (size_t i = 0; i < COUNT_OF(more); i++) {
		sample.print = (uint32_t)i + 100;
		now += HOUR;
		tell(40, LARGE, 20, more[i][0]);
		tell(40, LARGE, 20, more[i][1]);
		tell(40, 12000, 49, 0);
		struct history_pool p = tell(40, 12000, 49, more[i][2]);
		int64_t most = more[i][0] > more[i][1] ? more[i][0] : more[i][1];
		most = more[i][2] > most ? more[i][2] : most;
		cr_expect(p.sized);
		cr_expect_geq(p.rest_mib, BASE + most, "%zu: %lld", i, (long long)p.rest_mib);
		cr_expect_leq(p.use_mib, 11797, "%zu: %lld", i, (long long)p.use_mib);
	}
}

/* On its way out, or asleep: it has given back what it never gives back while it serves. */
Test(pool, a_process_that_lost_its_pool_is_not_looked_at)
{
	sample.in_bytes = INT64_C(2) * LARGE << 20;
	tell(60, LARGE, 20, 0);
	sample.mem_mib = 9000;
	for (int i = 0; i < 30; i++, now += MINUTE) {
		history_take_pool(h, &sample, now);
	}
	cr_expect_eq(known(99).rest_mib, BASE);
}

/* --- its use --- */

Test(pool, the_same_in_parts_of_another_size)
{
	sample.in_bytes = INT64_C(2000) << 20;
	tell(60, 1000, 80, 0);
	cr_expect_eq(known(99).use_mib, 1600);
	sample.in_bytes = INT64_C(8000) << 20;
	tell(60, 4000, 20, 0);
	cr_expect_eq(known(99).use_mib, 1600);
	sample.in_bytes = INT64_C(1000) << 20;
	tell(60, 500, 100, 0);
	cr_expect_eq(known(99).use_mib, 1600);
	cr_expect_eq(known(1).use_mib, 1040, "1000, up to the next hundredth of 8000: %lld",
		(long long)known(1).use_mib);
}

Test(pool, its_parts_are_rounded_up)
{
	sample.in_bytes = INT64_C(100) << 20;
	sample.units = 100;
	sample.mem_mib = BASE;
	sample.used = 200000;
	history_take_pool(h, &sample, now);
	cr_expect_eq(known(99).use_mib, 20);
	sample.used = 200001;
	history_take_pool(h, &sample, now);
	cr_expect_eq(known(99).use_mib, 21);
	sample.used = 5 * FULL;
	history_take_pool(h, &sample, now);
	cr_expect_eq(known(99).use_mib, 100);
	sample.units = HISTORY_POOL_UNITS_MAX;
	history_take_pool(h, &sample, now);
	cr_expect(known(99).counted);
}

Test(pool, it_is_forgotten_with_the_window)
{
	sample.in_bytes = INT64_C(2) * LARGE << 20;
	tell(60, LARGE, 20, 0);
	history_starved(h, now);
	now += 6 * 24 * HOUR;
	cr_expect(known(99).told && known(99).starved);
	now += 2 * 24 * HOUR;
	cr_expect(!known(99).told && !known(99).starved);
}

/* --- another one --- */

Test(pool, another_print_is_another_pool)
{
	sample.in_bytes = INT64_C(2) * LARGE << 20;
	tell(60, LARGE, 20, 0);
	/* While both run the former one counts. */
	for (int i = 0; i < 30; i++) {
		sample.print = 2;
		sample.fixed = true;
		tell(1, LARGE, 90, 0);
		sample.print = 1;
		sample.fixed = false;
		tell(1, LARGE, 20, 0);
	}
	struct history_pool p = known(99);
	cr_expect(p.sized && !p.fixed && p.use_mib == 11797);
	sample.print = 2;
	tell(9, LARGE, 90, 0);
	cr_expect_eq(known(99).use_mib, 11797);
	tell(3, LARGE, 90, 0);
	p = known(99);
	cr_expect(p.sized && p.minutes <= 3);
	cr_expect_gt(p.use_mib, 50000);
}

Test(pool, one_that_tells_none_takes_nothing)
{
	size_t before = history_bytes(h);
	history_take_pool(h, &sample, now);
	cr_expect_leq(history_bytes(h) - before, 192, "%zu bytes", history_bytes(h) - before);
}

/* One figure of one that slept, or of some of its processes alone, before all the good ones. */
Test(pool, a_first_look_that_was_too_low_is_forgotten)
{
	sample.in_bytes = INT64_C(2) * LARGE << 20;
	struct history_pool p = tell(1, LARGE, 20, -(BASE + LARGE));
	cr_expect_eq(p.rest_mib, -1);
	p = tell(40, LARGE, 20, 0);
	cr_expect(p.sized);
	cr_expect_eq(p.rest_mib, BASE);
}
