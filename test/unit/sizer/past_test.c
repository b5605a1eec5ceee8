/* What somebody kept of the time before us: whose it is asked for, and what of it counts. */
#include "bed.h"

#include "sizer/past.h"
#include "sizer/usage_checkpoints.h"

#define WEB "deployment-web"

static struct bed *asking(void)
{
	struct bed *b = bed_new();
	struct sizer_config config = {.groups = b->groups, .round_ms = BED_ROUND, .past = true};
	sizer_destroy(b->sizer);
	b->sizer = sizer_create(&config);
	bed_list(b);
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_turn(b);
	return b;
}

static struct sizer_past wanted(struct bed *b)
{
	struct sizer_past past = {0};
	cr_assert(sizer_past_next(b->sizer, &past));
	return past;
}

/* Each minute of the span, memory after compute as they come. */
static void tell(struct bed *b, const char *pod, int percent, int64_t mib)
{
	struct sizer_past past = wanted(b);
	for (int64_t at = past.from_ms + MINUTE_MS; at <= past.to_ms; at += MINUTE_MS) {
		struct metered m = {.ns = "team",
			.pod = pod,
			.container = "main",
			.uuid = "GPU-1",
			.source = METERED_PROMETHEUS,
			.compute = percent * (METERED_FULL / 100),
			.mem_bytes = METERED_ABSENT,
			.at_ms = at};
		sizer_past_take(b->sizer, &m, 1);
	}
	for (int64_t at = past.from_ms + MINUTE_MS; at <= past.to_ms; at += MINUTE_MS) {
		struct metered m = {.ns = "team",
			.pod = pod,
			.container = "main",
			.uuid = "GPU-1",
			.source = METERED_PROMETHEUS,
			.compute = METERED_ABSENT,
			.mem_bytes = mib << 20,
			.at_ms = at};
		sizer_past_take(b->sizer, &m, 1);
	}
}

Test(past, of_a_new_workload_its_window_is_asked_for_once)
{
	struct bed *b = asking();
	struct sizer_past past = wanted(b);
	cr_expect_str_eq(past.ns, "team");
	cr_expect_str_eq(past.object, WEB);
	cr_expect_str_eq(past.pods, "web-[bcdfghjklmnpqrstvwxz2456789]{6,10}-"
				    "[bcdfghjklmnpqrstvwxz2456789]{5}");
	cr_expect_eq(past.to_ms - past.from_ms, b->sizing.window_s * 1000);
	cr_expect_leq(past.to_ms, b->now.policy_ms);
	sizer_past_drop(b->sizer);
	bed_turn(b);
	cr_expect_not(sizer_past_next(b->sizer, &past));
	bed_free(b);
}

Test(past, minutes_of_it_are_observed_and_its_peak_counts)
{
	struct bed *b = asking();
	tell(b, "web-gone", 20, 6144);
	cr_assert_eq(sizer_past_span(b->sizer, b->now.policy_ms), SIZER_PAST_TAKEN);
	bed_turn(b);
	const struct recommendation *r = bed_told(b, WEB);
	cr_expect_eq(r->containers[0].target.milli, 300);
	cr_expect_eq(r->containers[0].target.mib, 7168);
	cr_expect_geq(r->history.coverage_percent, 98);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	bed_free(b);
}

Test(past, of_two_pods_each_minute_counts_once)
{
	struct bed *b = asking();
	tell(b, "web-one", 20, 6144);
	tell(b, "web-two", 20, 6144);
	cr_assert_eq(sizer_past_span(b->sizer, b->now.policy_ms), SIZER_PAST_TAKEN);
	bed_turn(b);
	cr_expect_leq(bed_told(b, WEB)->history.coverage_percent, 100);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	bed_free(b);
}

Test(past, another_container_is_none_of_ours)
{
	struct bed *b = asking();
	struct sizer_past past = wanted(b);
	struct metered m = {.ns = "team",
		.pod = "web-1",
		.container = "sidecar",
		.uuid = "",
		.source = METERED_PROMETHEUS,
		.compute = 100,
		.mem_bytes = 1 << 30,
		.at_ms = past.to_ms};
	sizer_past_take(b->sizer, &m, 1);
	cr_expect_eq(sizer_past_span(b->sizer, b->now.policy_ms), SIZER_PAST_TAKEN);
	bed_turn(b);
	cr_expect_eq(bed_told(b, WEB)->history.samples, 0);
	bed_free(b);
}

Test(past, what_is_too_much_is_dropped)
{
	struct bed *b = asking();
	struct sizer_past past = wanted(b);
	struct metered m = {.ns = "team",
		.pod = "web-1",
		.container = "main",
		.uuid = "",
		.source = METERED_PROMETHEUS,
		.compute = 100,
		.mem_bytes = METERED_ABSENT,
		.at_ms = past.to_ms};
	for (int i = 0; i <= SIZER_PAST_POINTS; i++) {
		sizer_past_take(b->sizer, &m, 1);
	}
	cr_expect_eq(sizer_past_span(b->sizer, b->now.policy_ms), SIZER_PAST_TOO_MUCH);
	cr_expect_not(sizer_past_next(b->sizer, &past));
	bed_turn(b);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Learning");
	bed_free(b);
}

Test(past, who_begins_to_lead_asks_again)
{
	struct bed *b = asking();
	struct sizer_past past = wanted(b);
	sizer_forget(b->sizer);
	cr_expect_not(sizer_past_next(b->sizer, &past));
	bed_turn(b);
	cr_expect(sizer_past_next(b->sizer, &past));
	bed_free(b);
}
