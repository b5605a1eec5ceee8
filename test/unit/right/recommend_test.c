/* What share fits what was measured: the scenarios of recommendation, by their numbers. The policy
 * is real-time inference's, the device has 80 GiB, where nothing else is said. */
#include <criterion/criterion.h>

#include "bed.h"

static struct bed b;

static void set_up(void)
{
	bed_init(&b);
}

static void tear_down(void)
{
	bed_finish(&b);
}

TestSuite(recommend, .init = set_up, .fini = tear_down);

#define EXPECT_SHARE(share, percent, of_mib)                                                       \
	do {                                                                                       \
		cr_expect_eq((share).milli, (percent)*10, "%lld milli", (long long)(share).milli); \
		cr_expect_eq((share).mib, (of_mib), "%lld MiB", (long long)(share).mib);           \
	} while (0)

Test(recommend, R1_a_day_of_use_is_a_target)
{
	bed_use(&b, 24 * 60, 20, 6 * GIB);
	struct recommend_answer a = bed_recommend(&b);
	struct history_facts f = bed_judge(&b);
	EXPECT_SHARE(a.target, 30, 7 * GIB);
	EXPECT_SHARE(a.uncapped, 30, 7 * GIB);
	cr_expect_eq(recommend_capped(&a), CAPPED_BY_NONE);
	cr_expect_eq(f.state, HISTORY_SUFFICIENT);
	cr_expect_eq(a.usage.p50_percent, 21);
	cr_expect_eq(a.usage.target_percent, 21);
	cr_expect_eq(a.usage.peak_mib, 6 * GIB);
	cr_expect_eq(a.usage.last_sample_ms, b.now - MINUTE / 4);
	EXPECT_SHARE(a.lower, 25, 6 * GIB);
	EXPECT_SHARE(a.upper, 60, 14 * GIB);
}

Test(recommend, R2_ten_minutes_less_are_learning)
{
	struct share whole_gpu = {1000, 80 * GIB};
	bool whole = true;
	bed_use(&b, 24 * 60 - 10, 20, 6 * GIB);
	struct history_facts f = bed_judge(&b);
	EXPECT_SHARE(bed_recommend(&b).target, 30, 7 * GIB);
	cr_expect_eq(f.state, HISTORY_LEARNING);
	cr_expect_eq(f.coverage_percent, 14);
	cr_expect_eq(f.compute_minutes, 1430);
	struct hold_answer held = bed_hold(&b, &whole_gpu, &whole);
	cr_expect_not(held.changes);
	cr_expect_eq(held.compute.why, HOLD_LEARNING);
	/* Those ten minutes later it is converted: the delay ran along. */
	bed_use(&b, 10, 20, 6 * GIB);
	held = bed_hold(&b, &whole_gpu, &whole);
	cr_expect(held.changes);
	cr_expect_eq(held.memory.why, HOLD_CONVERTS);
	EXPECT_SHARE(held.target, 30, 7 * GIB);
}

Test(recommend, R3_nothing_measured_is_no_target)
{
	struct share whole_gpu = {1000, 80 * GIB};
	bool whole = true;
	struct recommend_answer a = bed_recommend(&b);
	EXPECT_SHARE(a.target, 0, 0);
	cr_expect_not(a.usage.compute_known);
	cr_expect_eq(bed_judge(&b).state, HISTORY_NONE);
	b.sizing.required_s = b.sizing.scale_down_delay_s = 0;
	struct hold_answer held = bed_hold(&b, &whole_gpu, &whole);
	cr_expect_not(held.changes);
	cr_expect_eq(held.compute.why, HOLD_UNKNOWN);
}

/* So many of 200 minutes are at 90 %, evenly spread. */
static void use_evenly(int64_t hours, int64_t high_of_200)
{
	for (int64_t i = 0; i < hours * 60; i++) {
		bool high = i * high_of_200 / 200 != (i + 1) * high_of_200 / 200;
		bed_use(&b, 1, high ? 90 : 10, 6 * GIB);
	}
}

Test(recommend, R4_a_percentile_leaves_out_what_is_rare)
{
	use_evenly(48, 3);
	EXPECT_SHARE(bed_recommend(&b).target, 15, 7 * GIB);
}

Test(recommend, R4_and_counts_what_is_less_rare)
{
	use_evenly(48, 6);
	struct recommend_answer a = bed_recommend(&b);
	EXPECT_SHARE(a.target, 100, 7 * GIB);
	EXPECT_SHARE(a.uncapped, 115, 7 * GIB);
	cr_expect_eq(a.compute_capped, CAPPED_BY_DEVICE);
	cr_expect_eq(recommend_capped(&a), CAPPED_BY_DEVICE);
}

Test(recommend, R5_one_peak_stays_for_the_window)
{
	struct share current = {300, 7 * GIB};
	bool whole = false;
	bed_use(&b, 24 * 60, 20, 6 * GIB);
	bed_sample(&b, 0, 20000, 61 * GIB);
	cr_expect_eq(bed_recommend(&b).target.mib, 70 * GIB + 256);
	bed_hold(&b, &current, &whole);
	cr_expect_eq(current.mib, 70 * GIB + 256);
	b.now += MINUTE / 4;
	bed_use(&b, 7 * 24 * 60, 20, 6 * GIB);
	cr_expect_eq(bed_recommend(&b).target.mib, 70 * GIB + 256, "it is within the window");
	bed_use(&b, 60, 20, 6 * GIB);
	cr_expect_eq(bed_recommend(&b).target.mib, 7 * GIB, "it left the window");
	for (int i = 0; i < 24; i++) {
		bed_hold(&b, &current, &whole);
		cr_expect_eq(current.mib, 70 * GIB + 256, "hour %d of the delay", i);
		for (int k = 0; k < 12; k++) {
			bed_use(&b, 5, 20, 6 * GIB);
			if (i < 23 || k < 11) {
				cr_expect_not(bed_hold(&b, &current, &whole).changes);
			}
		}
	}
	cr_expect_eq(bed_hold(&b, &current, &whole).memory.why, HOLD_SHRINKS);
	cr_expect_eq(current.mib, 7 * GIB);
}

Test(recommend, R6_no_more_than_the_device)
{
	b.device_mib = 80 * GIB - 512;
	bed_use(&b, 24 * 60, 20, 79 * GIB);
	struct recommend_answer a = bed_recommend(&b);
	EXPECT_SHARE(a.target, 30, 80 * GIB - 512);
	EXPECT_SHARE(a.uncapped, 30, 91 * GIB);
	cr_expect_eq(a.memory_capped, CAPPED_BY_DEVICE);
	cr_expect_eq(a.compute_capped, CAPPED_BY_NONE);
	cr_expect_eq(recommend_capped(&a), CAPPED_BY_DEVICE);
}

Test(recommend, R7_no_more_than_the_policy_allows)
{
	b.sizing.max_percent = 50;
	bed_use(&b, 24 * 60, 50, 6 * GIB);
	struct recommend_answer a = bed_recommend(&b);
	EXPECT_SHARE(a.target, 50, 7 * GIB);
	EXPECT_SHARE(a.uncapped, 65, 7 * GIB);
	cr_expect_eq(recommend_capped(&a), CAPPED_BY_POLICY_MAX);
}

Test(recommend, R8_never_nothing)
{
	bed_use(&b, 7 * 24 * 60, 0, 100);
	struct recommend_answer a = bed_recommend(&b);
	EXPECT_SHARE(a.target, 10, 1 * GIB);
	cr_expect_eq(recommend_capped(&a), CAPPED_BY_POLICY_MIN);
}

/* In which minute after the load rose the target is what it asks for. */
static int64_t minutes_until(int64_t milli, int64_t most)
{
	for (int64_t i = 0; i < most; i++) {
		if (bed_recommend(&b).target.milli >= milli) {
			return i;
		}
		bed_use(&b, 1, 40, 6 * GIB);
	}
	return -1;
}

Test(recommend, R10_a_rise_is_followed_within_minutes)
{
	bed_use(&b, 30 * 24 * 60, 10, 6 * GIB);
	cr_expect_eq(bed_recommend(&b).target.milli, 150);
	int64_t minutes = minutes_until(550, 60);
	cr_expect_eq(minutes, 8, "after %lld minutes", (long long)minutes);
	struct recommend_answer a = bed_recommend(&b);
	cr_expect(a.fast);
	cr_expect_eq(a.target.milli, 550);
}

Test(recommend, R10_the_percentile_alone_takes_three_quarters_of_an_hour)
{
	bed_use(&b, 30 * 24 * 60, 10, 6 * GIB);
	int64_t minutes = 0;
	for (; minutes < 60 && history_compute(b.history, 98, b.now) < 41; minutes++) {
		bed_use(&b, 1, 40, 6 * GIB);
	}
	cr_expect(minutes >= 39 && minutes <= 45, "after %lld minutes", (long long)minutes);
}

Test(recommend, R10_a_fall_is_followed_after_the_delay)
{
	struct share current = {550, 7 * GIB};
	bool whole = false;
	int64_t since = 0, shrunk = 0;
	bed_use(&b, 14 * 24 * 60, 40, 6 * GIB);
	int64_t fell = b.now;
	for (int i = 0; i < 10 * 24 * 12 && shrunk == 0; i++) {
		bed_use(&b, 5, 10, 6 * GIB);
		bool lower = bed_recommend(&b).target.milli == 150;
		since = since == 0 && lower ? b.now : since;
		if (bed_hold(&b, &current, &whole).changes) {
			shrunk = b.now;
		} else {
			cr_assert_eq(current.milli, 550);
		}
	}
	int64_t hours = (since - fell) / HOUR;
	cr_expect(hours >= 132 && hours <= 138, "5.6 days: %lld h", (long long)hours);
	cr_expect_eq(shrunk - since, DAY, "%lld min", (long long)(shrunk - since) / MINUTE);
	cr_expect_eq(current.milli, 150);
}

Test(recommend, R13_a_silence_is_stale_and_no_zero)
{
	struct share current = {300, 7 * GIB};
	bool whole = false;
	bed_use(&b, 24 * 60, 20, 6 * GIB);
	struct recommend_answer before = bed_recommend(&b);
	b.now += 4 * MINUTE;
	cr_expect_eq(bed_judge(&b).state, HISTORY_SUFFICIENT);
	b.now += 2 * MINUTE;
	cr_expect_eq(bed_judge(&b).state, HISTORY_STALE);
	struct recommend_answer after = bed_recommend(&b);
	EXPECT_SHARE(after.target, before.target.milli / 10, before.target.mib);
	current.milli = 150;
	cr_expect_eq(bed_hold(&b, &current, &whole).compute.why, HOLD_STALE);
	current.milli = 1000;
	cr_expect_eq(bed_hold(&b, &current, &whole).compute.why, HOLD_STALE);
	cr_expect_eq(current.milli, 1000);
	/* Six hours of it are no hours of idling, and none that were observed. */
	b.now += 6 * HOUR;
	bed_use(&b, 1, 20, 6 * GIB);
	cr_expect_eq(bed_judge(&b).compute_minutes, 24 * 60 + 1);
	EXPECT_SHARE(bed_recommend(&b).target, 30, 7 * GIB);
	cr_expect_eq(history_compute(b.history, 50, b.now), 21);
}

Test(recommend, R14_a_change_of_source_moves_nothing)
{
	bed_use(&b, 24 * 60, 20, 6 * GIB);
	b.source.basis = "sm_util_x_cap";
	for (int i = 0; i < 23 * 12; i++) {
		bed_use(&b, 5, 35, 6 * GIB);
		EXPECT_SHARE(bed_recommend(&b).target, 30, 7 * GIB);
		cr_assert_eq(bed_judge(&b).state, HISTORY_LEARNING);
		cr_assert_str_eq(bed_judge(&b).source.basis, "sm_active");
	}
	/* What the new one says by itself counts once it is enough. */
	bed_use(&b, 61, 35, 6 * GIB);
	cr_expect_eq(bed_judge(&b).state, HISTORY_SUFFICIENT);
	cr_expect_str_eq(bed_judge(&b).source.basis, "sm_util_x_cap");
	EXPECT_SHARE(bed_recommend(&b).target, 45, 7 * GIB);
}

Test(recommend, R14_but_more_memory_counts_whoever_tells_it)
{
	bed_use(&b, 24 * 60, 20, 6 * GIB);
	b.source.source = METERED_EXPORTER;
	bed_use(&b, 1, 90, 12 * GIB);
	EXPECT_SHARE(bed_recommend(&b).target, 30, 14 * GIB);
}

/* Three replicas in one minute, each scrape. */
static void use_three(int64_t minutes, const int64_t percent[3])
{
	for (int64_t i = 0; i < minutes * 4; i++, b.now += MINUTE / 4) {
		for (uint32_t pod = 0; pod < 3; pod++) {
			bed_sample(&b, pod, percent[pod] * METERED_FULL / 100, 6 * GIB);
		}
	}
	bed_settle(&b);
}

Test(recommend, R17_replicas_share_one_target)
{
	static const int64_t percent[3] = {10, 10, 60};
	use_three(24 * 60, percent);
	struct recommend_answer a = bed_recommend(&b);
	EXPECT_SHARE(a.target, 80, 7 * GIB);
	cr_expect_eq(a.usage.target_percent, 61);
	cr_expect_eq(a.usage.p50_percent, 11);
	cr_expect_eq(bed_judge(&b).compute_minutes, 24 * 60, "a minute counts once");
}

Test(recommend, a_wall_hides_need_and_makes_no_target_smaller)
{
	bed_use(&b, 7 * 24 * 60, 50, 6 * GIB);
	cr_expect_eq(bed_recommend(&b).target.milli, 650);
	b.wall = METERED_FULL * 30 / 100;
	for (int day = 0; day < 30; day++) {
		bed_use(&b, 24 * 60, 29, 6 * GIB);
		cr_expect_geq(bed_recommend(&b).target.milli, 650, "day %d", day);
	}
	/* Without the wall it is what it is, and the old level goes as it would have. */
	b.wall = METERED_FULL;
	bed_use(&b, 8 * 24 * 60, 29, 6 * GIB);
	cr_expect_eq(bed_recommend(&b).target.milli, 400);
}

Test(recommend, what_is_held_by_a_wall_grows_by_its_headroom_alone)
{
	b.wall = METERED_FULL * 30 / 100;
	bed_use(&b, 24 * 60, 29, 6 * GIB);
	cr_expect_eq(bed_recommend(&b).target.milli, 400);
	b.sizing.headroom_percent = 0;
	b.sizing.step_percent = 1;
	cr_expect_eq(bed_recommend(&b).target.milli, 300, "not the 29 that were measured");
}

Test(recommend, a_median_near_the_top_is_a_whole_gpu)
{
	b.sizing.percentile = 99;
	b.sizing.headroom_percent = 10;
	b.sizing.whole_from_p50_percent = 80;
	bed_use(&b, 24 * 60, 79, 6 * GIB);
	cr_expect_eq(bed_recommend(&b).target.milli, 1000);
	b.sizing.whole_from_p50_percent = 81;
	cr_expect_eq(bed_recommend(&b).target.milli, 900);
}

Test(recommend, peaks_above_a_low_median_are_no_whole_gpu)
{
	b.sizing.percentile = 99;
	b.sizing.headroom_percent = 0;
	b.sizing.whole_from_p50_percent = 80;
	use_evenly(24, 20);
	struct recommend_answer a = bed_recommend(&b);
	cr_expect_lt(a.usage.p50_percent, 80);
	cr_expect_geq(a.usage.target_percent, 80);
	cr_expect_eq(a.target.milli, 950, "%lld", (long long)a.target.milli);
}
