/* The round: from figures to a GPURecommendation, and over a restart. */
#include "bed.h"
#include "tracking/workload_table.h"

#define WEB "deployment-web"

static struct share target(struct bed *b, const char *name)
{
	const struct recommendation *r = bed_told(b, name);
	cr_assert_eq(r->container_count, 1);
	cr_assert_str_eq(r->containers[0].name, "main");
	return r->containers[0].target;
}

Test(sizer, r3_nothing_measured_is_nothing_recommended)
{
	struct bed *b = bed_new();
	bed_turn(b);
	cr_expect_eq(b->creates, 0, "nobody is there");
	bed_pod(b, "web", "web-1", 1);
	bed_run(b, NULL, 0, 0, 2);
	cr_expect_eq(b->creates, 1);
	cr_expect_eq(target(b, WEB).milli, 0);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_RECOMMENDED), "NoHistory");
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Learning");
	cr_expect_eq(bed_told(b, WEB)->containers[0].original.milli, 1000);
	cr_expect_eq(bed_told(b, WEB)->containers[0].original.mib, BED_MIB);
	bed_free(b);
}

Test(sizer, r1_r2_learnt_then_applied)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 25);
	cr_expect_eq(target(b, WEB).milli, 300);
	cr_expect_eq(target(b, WEB).mib, 7168);
	cr_expect(!recommendation_holds(bed_told(b, WEB)));
	cr_expect_eq(b->events, 0, "what is not applied is no news");
	bed_run(b, "web-1", 20, 6144, 8);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_READY), "Recommending");
	cr_expect_eq(target(b, WEB).milli, 300);
	cr_expect_geq(bed_told(b, WEB)->revision, 1);
	cr_expect_str_eq(bed_told(b, WEB)->policy.name, "quick");
	bed_free(b);
}

/* Enough is known, but for the delay it has to wait: what is shown would be applied. */
Test(sizer, what_has_to_wait_is_not_shown)
{
	struct bed *b = bed_new();
	b->sizing.scale_down_delay_s = 3600;
	bed_policy(b);
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 40);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient");
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_RECOMMENDED), "ScaleDownDelay");
	cr_expect_eq(target(b, WEB).milli, 0);
	bed_run(b, "web-1", 20, 6144, 25);
	cr_expect_eq(target(b, WEB).milli, 300);
	cr_expect_eq(b->events, 1);
	cr_expect_str_eq(b->message, "main: the target is 30% and 7Gi now, it was nothing");
	bed_free(b);
}

Test(sizer, r17_replicas_are_one_workload)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "a", 1);
	bed_pod(b, "web", "b", 1);
	bed_pod(b, "web", "c", 1);
	bed_turn(b);
	for (int i = 0; i < 80; i++) {
		bed_use(b, "a", 10, 2048);
		bed_use(b, "b", 10, 2048);
		bed_run(b, NULL, 0, 0, 0);
		bed_use(b, "c", 60, 2048);
		bed_pass(b, 20000);
		bed_turn(b);
	}
	cr_expect_eq(b->creates, 1);
	cr_expect_eq(target(b, WEB).milli, 800);
	cr_expect_eq(bed_told(b, WEB)->pods.total, 3);
	bed_free(b);
}

Test(sizer, r11_a_restart_leaves_what_is_in_force)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 35);
	int64_t revision = bed_told(b, WEB)->revision;
	int writes = b->statuses;
	bed_restart(b);
	bed_turn(b);
	bed_run(b, "web-1", 5, 1024, 20);
	cr_expect_eq(target(b, WEB).milli, 300, "no shrink before enough is known again");
	cr_expect_eq(target(b, WEB).mib, 7168);
	cr_expect_eq(bed_told(b, WEB)->revision, revision);
	cr_expect(recommendation_holds(bed_told(b, WEB)));
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Relearning");
	cr_expect_eq(b->creates, 1);
	cr_expect_leq(b->statuses - writes, 25);
	bed_free(b);
}

Test(sizer, slices_come_to_the_same)
{
	struct bed *b = bed_new();
	char name[16];
	b->budget = 3;
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "w%d", i);
		bed_pod(b, name, name, 1);
	}
	for (int i = 0; i < 4; i++) {
		bed_turn(b);
	}
	cr_expect_eq(b->creates, 20);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof name, "deployment-w%d", i);
		cr_expect_geq(bed_object(b, name)->writes, 1);
	}
	bed_free(b);
}

Test(sizer, before_the_list_is_known_nothing_is_made)
{
	struct bed *b = bed_new();
	struct sizer_config config = {.groups = b->groups, .round_ms = BED_ROUND};
	sizer_destroy(b->sizer);
	b->sizer = sizer_create(&config);
	bed_pod(b, "web", "web-1", 1);
	bed_pass(b, BED_ROUND);
	bed_step(b);
	cr_expect_eq(b->creates, 0);
	cr_expect_eq(sizer_deadline(b->sizer), INT64_MAX);
	bed_list(b);
	bed_turn(b);
	cr_expect_eq(b->creates, 1);
	bed_free(b);
}

Test(sizer, what_it_takes_is_told)
{
	struct bed *b = bed_new();
	struct sizer_totals t;
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 35);
	sizer_sum(b->sizer, &t);
	cr_expect_eq(t.workloads, 1);
	cr_expect_eq(t.pods, 1);
	cr_expect_eq(t.ready, 1);
	cr_expect_eq(t.learning, 0);
	cr_expect_gt(t.bytes, 1000);
	cr_expect_lt(t.bytes, 4096);
	bed_free(b);
}

/* --- what nobody asks for any more --- */

#define KEPT_MS (SIZER_KEEP_S * INT64_C(1000))

/* Its pods are gone since an hour. */
static struct bed *left(bool owned)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "w", 1);
	bed_turn(b);
	bed_run(b, "w", 20, 6144, 5);
	bed_object(b, "deployment-web")->r.owned = owned;
	bed_echo(b, bed_object(b, "deployment-web"));
	bed_pod_gone(b, "w");
	bed_turn(b);
	bed_pass(b, HOUR_MS);
	bed_turn(b);
	return b;
}

Test(sizer, o9_one_without_an_owner_is_deleted_when_its_time_is_over)
{
	struct bed *b = left(false);
	bed_pass(b, KEPT_MS - 2 * HOUR_MS);
	bed_turn(b);
	cr_expect_eq(b->deletes, 0);
	bed_pass(b, 2 * HOUR_MS);
	b->fails = true;
	bed_turn(b);
	cr_expect_not_null(bed_object(b, "deployment-web"));
	b->fails = false;
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->deletes, 1);
	cr_expect_null(bed_object(b, "deployment-web"));
	cr_expect_null(sized_find(&b->sizer->tracking, "team", "deployment-web"));
	bed_free(b);
}

Test(sizer, one_with_an_owner_stays_as_long_as_that)
{
	struct bed *b = left(true);
	bed_pass(b, 3 * KEPT_MS);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->deletes, 0);
	cr_expect_not_null(sized_find(&b->sizer->tracking, "team", "deployment-web"));
	bed_free(b);
}

/* Whoever restarts every week would keep it for good. */
Test(sizer, a_restart_does_not_begin_its_time_anew)
{
	struct bed *b = left(false);
	bed_pass(b, KEPT_MS - 2 * HOUR_MS);
	bed_restart(b);
	bed_turn(b);
	cr_expect_eq(b->deletes, 0);
	bed_pass(b, 2 * HOUR_MS);
	bed_turn(b);
	cr_expect_eq(b->deletes, 1);
	bed_free(b);
}

Test(sizer, one_whose_pods_come_again_stays)
{
	struct bed *b = left(false);
	bed_pass(b, KEPT_MS - 2 * HOUR_MS);
	bed_pod(b, "web", "again", 1);
	bed_turn(b);
	bed_pass(b, 2 * HOUR_MS);
	bed_turn(b);
	cr_expect_eq(b->deletes, 0);
	bed_free(b);
}
