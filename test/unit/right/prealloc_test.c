/* Frameworks that take memory ahead of need. The device has 80 GiB. */
#include <criterion/criterion.h>

#include "bed.h"

static struct bed b;

static void set_up(void)
{
	bed_init(&b);
	b.device_mib = 80LL * GIB;
	b.prealloc.owns_device = true;
}

static void tear_down(void)
{
	bed_finish(&b);
}

TestSuite(prealloc, .init = set_up, .fini = tear_down);

/* Of a pod that started at START: its class after so many minutes at this level. */
static enum memory_class watch(
	enum memory_class class, struct prealloc_watch *w, bool whole, int64_t minutes, int64_t mib)
{
	for (int64_t i = 0; i < minutes; i++, b.now += MINUTE) {
		struct prealloc_look look = {.owns_device = whole,
			.started_ms = START,
			.used_mib = mib,
			.visible_mib = 80LL * GIB,
			.now_ms = b.now};
		class = prealloc_classify(class, w, &look);
	}
	return class;
}

Test(prealloc, P1_without_gauges_what_it_took_stays)
{
	int64_t taken = 73 * GIB + 615; /* 73.6 GiB */
	struct prealloc_watch w = {0};
	struct prealloc_look look = {.hinted = true};
	b.prealloc.memory_class = prealloc_classify(MEMORY_UNDECIDED, &w, &look);
	bed_use(&b, 24 * 60, 20, taken);
	struct recommend_answer a = bed_recommend(&b);
	cr_expect_eq(a.memory_by, PREALLOC_NO_METRICS);
	cr_expect_str_eq(prealloc_by_name(a.memory_by), "NoAppMetrics");
	cr_expect_eq(a.target.mib, 73 * GIB + 768);
	cr_expect_eq(a.target.milli, 300, "its compute shrinks all the same");
	/* Within its share it is the share, whatever it takes of it. */
	b.prealloc.owns_device = false;
	b.prealloc.allocated_mib = a.target.mib;
	bed_use(&b, 10 * 24 * 60, 20, 66 * GIB);
	cr_expect_eq(bed_recommend(&b).target.mib, 73 * GIB + 768);
	b.sizing.preallocated = PREALLOCATED_SHRINK;
	cr_expect_eq(bed_recommend(&b).target.mib, 76 * GIB, "66 GiB and 15 %%");
	b.prealloc.told_mib = 70 * GIB;
	a = bed_recommend(&b);
	cr_expect_eq(a.memory_by, PREALLOC_TOLD);
	cr_expect_eq(a.target.mib, 66 * GIB, "without headroom, for it may fill what it is told");
	b.prealloc.told_mib = 60 * GIB;
	cr_expect_eq(bed_recommend(&b).target.mib, 60 * GIB, "and no share grows by that");
	b.prealloc.told_mib = 0;
	b.sizing.preallocated = PREALLOCATED_KEEP_USED;
	a = bed_recommend(&b);
	cr_expect_eq(a.memory_by, PREALLOC_KEPT);
	cr_expect_eq(a.target.mib, 73 * GIB + 768);
}

/* A pool of 57.6 GiB, told in bytes. */
#define POOL (57LL * GIB + 614)

static struct history_pool_sample pool_of(int64_t percent)
{
	return (struct history_pool_sample){.print = 1,
		.engine = APP_VLLM,
		.units = POOL,
		.in_bytes = POOL << 20,
		.used = percent * METERED_GAUGE_FULL / 100,
		.mem_mib = 16 * GIB + POOL};
}

static void fill_pool(int minutes, struct history_pool_sample s)
{
	for (int i = 0; i < minutes; i++) {
		history_take_pool(b.history, &s, b.now + (i - minutes) * MINUTE);
	}
}

/* Beside 16 GiB of weights and activations, for a day. */
static void use_pool(int64_t percent)
{
	b.prealloc.memory_class = MEMORY_PREALLOCATED;
	bed_use(&b, 24 * 60, 20, 16 * GIB + POOL);
	fill_pool(24 * 60, pool_of(percent));
}

static void expect_kept(enum prealloc_by by, const char *reason)
{
	struct recommend_answer a = bed_recommend(&b);
	cr_expect_eq(a.memory_by, by);
	cr_expect_str_eq(prealloc_by_name(a.memory_by), reason);
	cr_expect_not_null(prealloc_sentence(a.memory_by));
	cr_expect_eq(a.target.mib, 73 * GIB + 768, "%lld", (long long)a.target.mib);
}

Test(prealloc, P2_its_pool_is_sized_by_its_gauges)
{
	use_pool(20);
	struct recommend_answer a = bed_recommend(&b);
	cr_expect_eq(a.memory_by, PREALLOC_BY_APP);
	cr_expect_eq(a.target.mib, 30 * GIB + 512, "%lld", (long long)a.target.mib);
	/* One full moment in a thousand is not the 99th percentile; twenty are. */
	fill_pool(1, pool_of(100));
	cr_expect_eq(bed_recommend(&b).target.mib, 30 * GIB + 512);
	fill_pool(20, pool_of(100));
	cr_expect_eq(bed_recommend(&b).target.mib, 80 * GIB);
}

/* Whoever is told 85 % of its share gets so much more. */
Test(prealloc, P2_who_is_told_a_part_of_its_share)
{
	use_pool(20);
	b.prealloc.part_percent = 85;
	cr_expect_eq(bed_recommend(&b).target.mib, 36 * GIB, "30.4 of 35.8");
}

/* What keeps its gauges from saying what it needs. Each alone keeps what it has. */
Test(prealloc, P2_a_pool_of_unknown_size_keeps_what_it_took)
{
	b.prealloc.memory_class = MEMORY_PREALLOCATED;
	bed_use(&b, 24 * 60, 20, 16 * GIB + POOL);
	expect_kept(PREALLOC_NO_METRICS, "NoAppMetrics");
	struct history_pool_sample s = pool_of(20);
	s.in_bytes = METERED_ABSENT;
	fill_pool(24 * 60, s);
	expect_kept(PREALLOC_POOL_UNKNOWN, "PoolUnknown");
	s.in_bytes = POOL << 20;
	s.fixed = true;
	fill_pool(1, s);
	expect_kept(PREALLOC_POOL_PINNED, "PoolPinned");
	s.fixed = false;
	fill_pool(1, s);
	cr_expect_eq(bed_recommend(&b).memory_by, PREALLOC_BY_APP);
}

Test(prealloc, P2_nor_does_one_that_is_not_known_for_long_enough)
{
	b.prealloc.memory_class = MEMORY_PREALLOCATED;
	bed_use(&b, 7 * 24 * 60, 20, 16 * GIB + POOL);
	fill_pool(24 * 60 - 1, pool_of(1));
	expect_kept(PREALLOC_POOL_LEARNING, "PoolLearning");
	b.now += MINUTE;
	fill_pool(1, pool_of(1));
	cr_expect_eq(bed_recommend(&b).target.mib, 18 * GIB);
}

Test(prealloc, P2_but_the_pool_keeps_a_floor)
{
	use_pool(0);
	cr_expect_eq(bed_recommend(&b).target.mib, 18 * GIB);
}

Test(prealloc, P3_a_full_pool_does_not_shrink)
{
	use_pool(95);
	struct recommend_answer a = bed_recommend(&b);
	cr_expect_eq(a.target.mib, 80 * GIB);
	cr_expect_gt(a.uncapped.mib, 80 * GIB, "healing may give it more elsewhere");
}

Test(prealloc, P3_nor_one_whose_requests_are_preempted)
{
	use_pool(20);
	b.prealloc.owns_device = false;
	b.prealloc.allocated_mib = 40 * GIB;
	cr_expect_eq(bed_recommend(&b).target.mib, 30 * GIB + 512);
	history_starved(b.history, b.now);
	cr_expect_eq(bed_recommend(&b).target.mib, 40 * GIB);
}

Test(prealloc, P6_level_and_large_is_preallocated)
{
	struct prealloc_watch w = {0};
	b.now += 5 * MINUTE;
	cr_expect_eq(watch(MEMORY_UNDECIDED, &w, true, 60, 60 * GIB), MEMORY_UNDECIDED);
	cr_expect_eq(watch(MEMORY_UNDECIDED, &w, true, 1, 60 * GIB), MEMORY_PREALLOCATED);
}

/* An hour of waiting before the model is loaded looks like growing. */
Test(prealloc, what_is_told_of_it_is_worth_more_than_what_was_seen)
{
	struct prealloc_watch w = {0};
	struct prealloc_look told = {.hinted = true};
	enum memory_class class = watch(MEMORY_UNDECIDED, &w, true, 70, 1 * GIB);
	cr_expect_eq(class, MEMORY_GROWING);
	class = prealloc_classify(class, &w, &told);
	cr_expect_eq(class, MEMORY_PREALLOCATED);
	told.hinted = false;
	cr_expect_eq(prealloc_classify(class, &w, &told), MEMORY_PREALLOCATED);
}

Test(prealloc, P6_what_grows_and_then_stays_is_growing)
{
	struct prealloc_watch w = {0};
	enum memory_class class = MEMORY_UNDECIDED;
	for (int64_t gib = 4; gib <= 9; gib++) {
		class = watch(class, &w, true, 20, gib * GIB);
		cr_expect_eq(class, MEMORY_UNDECIDED);
		bed_use(&b, 5, 20, gib * GIB);
	}
	class = watch(class, &w, true, 61, 9 * GIB);
	cr_expect_eq(class, MEMORY_GROWING);
	b.prealloc.memory_class = class;
	cr_expect_eq(bed_recommend(&b).target.mib, 10 * GIB + 512);
	/* Nor does what is seen later make it another: a whole device again. */
	cr_expect_eq(watch(class, &w, true, 120, 70 * GIB), MEMORY_GROWING);
	/* In a share of 10.5 GiB it fills 86 % of what it sees, level; it stays what it is. */
	cr_expect_eq(watch(class, &w, false, 120, 9 * GIB), MEMORY_GROWING);
	b.prealloc.owns_device = false;
	b.prealloc.allocated_mib = 10 * GIB + 512;
	bed_use(&b, 60, 20, 9 * GIB);
	cr_expect_eq(bed_recommend(&b).target.mib, 10 * GIB + 512);
}

Test(prealloc, nothing_is_judged_within_a_share_or_at_the_start)
{
	struct prealloc_watch w = {0};
	cr_expect_eq(watch(MEMORY_UNDECIDED, &w, false, 200, 60 * GIB), MEMORY_UNDECIDED);
	b.now = START;
	w = (struct prealloc_watch){0};
	cr_expect_eq(watch(MEMORY_UNDECIDED, &w, true, 65, 60 * GIB), MEMORY_UNDECIDED);
	cr_expect_eq(watch(MEMORY_UNDECIDED, &w, true, 1, 60 * GIB), MEMORY_PREALLOCATED);
}

Test(prealloc, what_is_not_told_is_not_level)
{
	struct prealloc_watch w = {0};
	b.now += 5 * MINUTE;
	cr_expect_eq(watch(MEMORY_UNDECIDED, &w, true, 200, METERED_ABSENT), MEMORY_UNDECIDED);
}
