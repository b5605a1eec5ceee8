/* Pods that end for want of memory: what the next run of one that does not restart gets, and whose
 * fault it was. */
#include "healed.h"
#include "tracking/pod_table.h"

#include "sizer/usage_checkpoints.h"
#include "sizer/workload_pods.h"

#define HEALED (9 * GIB + 768)

/* The usual tenant of a Deployment stands for the run of a Job: the sizer asks for no kind here. */
static struct bed *ended(bool told, int64_t used_mib)
{
	struct bed *b = usual();
	cr_assert(bed_use(b, "t", 10, used_mib));
	b->oom_ms = told ? b->now.policy_ms : 0;
	b->failed_ms = b->now.policy_ms;
	b->ended = true;
	give(b);
	return b;
}

/* It is seen, its neighbours are looked at, and what follows is decided. */
static void settle(struct bed *b)
{
	for (int i = 0; i < 3; i++) {
		bed_turn(b);
	}
}

/* The same, and no round begins. */
static void settle_between(struct bed *b)
{
	bed_step(b);
	bed_pass(b, 5000);
	bed_step(b);
}

Test(heals_ends, the_next_run_of_one_that_ran_out_of_memory_gets_more)
{
	struct bed *b = ended(true, 7100);
	settle(b);
	cr_expect_null(pods_find(&b->sizer->tracking, "t"), "it is none of its pods any more");
	cr_expect_eq(first(b)->target.mib, HEALED);
	cr_expect_eq(bed_told(b, WEB)->healing.kind, HEALING_MEMORY);
	cr_expect_not_null(strstr(b->started, "of which it had 8Gi"), "%s", b->started);
	bed_free(b);
}

Test(heals_ends, an_error_at_the_limit_is_the_same_without_words)
{
	struct bed *b = ended(false, 7500);
	settle(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	bed_free(b);
	b = ended(false, 2400);
	settle(b);
	cr_expect_eq(first(b)->target.mib, 8 * GIB);
	bed_free(b);
}

/* A Job makes the next one after ten seconds. */
Test(heals_ends, it_waits_for_no_round_and_needs_no_pod)
{
	struct bed *b = ended(true, 7100);
	struct sizer_totals before, after;
	sizer_sum(b->sizer, &before);
	see(b, "t");
	bed_pod_gone(b, "t"); /* whoever made it has deleted it */
	bed_step(b);
	bed_pass(b, 5000);
	bed_step(b);
	sizer_sum(b->sizer, &after);
	cr_assert_eq(before.rounds, after.rounds);
	bed_turn(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	bed_free(b);
}

/* What does not fit fails with its first batch, before a round has met its pod. */
Test(heals_ends, one_that_fails_at_once_is_judged_though_no_round_met_it)
{
	struct bed *b = usual();
	cr_assert(bed_use(b, "t", 10, 4000));
	b->oom_ms = b->failed_ms = b->now.policy_ms;
	b->ended = true;
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	see(b, "u");
	see(b, "u");
	cr_expect_eq(b->sizer->healing.alarms.ends.count, 1, "it is told again and again");
	settle(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	see(b, "u");
	settle(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	cr_expect_eq(bed_told(b, WEB)->healing.step, 1);
	bed_free(b);
}

/* It comes to the same GPU before it is measured. */
Test(heals_ends, its_next_run_is_not_to_blame)
{
	struct bed *b = ended(true, 7100);
	see(b, "t");
	b->ended = false;
	b->oom_ms = b->failed_ms = 0;
	bed_pass(b, 1000);
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	settle(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	bed_free(b);
}

Test(heals_ends, each_end_is_one_step)
{
	struct bed *b = ended(true, 7100);
	see(b, "t");
	for (int i = 0; i < 5; i++) {
		bed_turn(b); /* the round finds it as well */
	}
	cr_expect_eq(first(b)->target.mib, HEALED);
	cr_expect_eq(bed_told(b, WEB)->healing.step, 1);
	bed_free(b);
}

/* Who led meanwhile has judged it. */
Test(heals_ends, what_ended_before_somebody_else_led_is_forgotten)
{
	struct bed *b = ended(true, 7100);
	see(b, "t");
	cr_assert_eq(b->sizer->healing.alarms.ends.count, 1);
	bed_pod_gone(b, "t");
	sizer_forget(b->sizer);
	cr_expect_eq(b->sizer->healing.alarms.ends.count, 0);
	settle(b);
	cr_expect_eq(bed_told(b, WEB)->healing.kind, HEALING_NONE);
	bed_free(b);
}

/* What runs once a week is not sure of less as long as nothing of it ran. */
Test(heals_ends, what_was_added_stays_until_something_of_it_runs)
{
	struct bed *b = ended(true, 7100);
	settle(b);
	cr_assert_eq(first(b)->target.mib, HEALED);
	for (int hour = 0; hour < 72; hour++) {
		bed_pass(b, HOUR_MS);
		bed_turn(b);
	}
	cr_expect_eq(first(b)->target.mib, HEALED);
	cr_expect(is(b, RECOMMENDATION_HEALING));
	bed_free(b);
}

Test(heals_ends, whoever_took_its_memory_is_asked_though_it_is_gone)
{
	struct bed *b = usual();
	bed_tenant(b, "loud", "n", 100, 4 * GIB);
	bed_turn(b);
	cr_assert(bed_use(b, "n", 10, 60 * GIB));
	cr_assert(bed_use(b, "t", 10, 7100));
	b->oom_ms = b->failed_ms = b->now.policy_ms;
	b->ended = true;
	give(b);
	see(b, "t");
	bed_pod_gone(b, "t");
	settle(b);
	cr_expect_eq(first(b)->target.mib, 8 * GIB);
	cr_expect(is(b, RECOMMENDATION_CONTENTION));
	bed_free(b);
}

/* For a minute each look at one that no round has met tells its end again. */
Test(heals_ends, C29_one_that_was_judged_is_not_judged_again_when_its_neighbour_is_gone)
{
	struct bed *b = usual();
	bed_tenant(b, "loud", "n", 100, 4 * GIB);
	bed_turn(b);
	cr_assert(bed_use(b, "n", 10, 60 * GIB));
	cr_assert(bed_use(b, "t", 10, 4000));
	bed_pass(b, 1000);
	b->oom_ms = b->failed_ms = b->now.policy_ms;
	b->ended = true;
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	see(b, "u");
	settle_between(b);
	cr_assert_null(pods_find(&b->sizer->tracking, "u"));
	const struct sized_container *c = pods_find(&b->sizer->tracking, "t")->only.container;
	cr_assert_gt(healing_of(c)->contended_ms, 0);
	bed_pod_gone(b, "n");
	bed_step(b);
	see(b, "u");
	settle_between(b);
	cr_expect_not(healing_of(c)->answer.healing);
	cr_expect_eq(c->in_force.mib, 8 * GIB);
	bed_free(b);
}

/* More within a minute than are remembered. */
Test(heals_ends, what_was_judged_gives_way_to_what_was_not)
{
	struct bed *b = usual();
	char name[16];
	b->oom_ms = b->failed_ms = b->now.policy_ms;
	b->ended = true;
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof name, "u%d", i);
		bed_tenant(b, "web", name, 300, 8 * GIB);
		see(b, name);
		if (i == 199) {
			settle_between(b);
		}
	}
	size_t waiting = 0;
	for (size_t i = 0; i < b->sizer->healing.alarms.ends.count; i++) {
		waiting += !b->sizer->healing.alarms.ends.items[i].judged;
	}
	cr_expect_eq(waiting, 200);
	cr_expect_leq(b->sizer->healing.alarms.ends.count, 256);
	bed_free(b);
}

Test(heals_ends, what_was_judged_ends_with_its_time)
{
	struct bed *b = ended(true, 7100);
	see(b, "t");
	settle(b);
	cr_expect_eq(b->sizer->healing.alarms.ends.count, 1);
	bed_pass(b, MINUTE_MS);
	bed_step(b);
	cr_expect_eq(b->sizer->healing.alarms.ends.count, 0);
	bed_free(b);
}

Test(heals_ends, who_is_told_to_go_may_end_as_he_likes)
{
	struct bed *b = usual();
	cr_assert(bed_use(b, "t", 10, 7900));
	b->failed_ms = b->now.policy_ms;
	b->ended = b->leaves = true;
	give(b);
	see(b, "t");
	settle(b);
	cr_expect_eq(bed_told(b, WEB)->healing.kind, HEALING_NONE);
	bed_free(b);
	b = usual();
	b->oom_ms = b->failed_ms = b->now.policy_ms; /* these are words */
	b->ended = b->leaves = true;
	give(b);
	see(b, "t");
	settle(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	bed_free(b);
}

Test(heals_ends, one_whose_sidecar_uses_the_gpu_is_healed_like_any_other)
{
	struct bed *b = usual();
	const struct metered_figure f = {
		.container = "side", .mem_bytes = 1 << 20, .at_ms = b->now.policy_ms};
	const struct sizer_use u = {
		.uid = "t", .source = METERED_AGENT, .figures = &f, .figure_count = 1};
	cr_assert(sizer_take(b->sizer, &u, b->now.policy_ms));
	deny(b);
	scrape(b);
	cr_expect_eq(b->request.mib, HEALED);
	bed_free(b);
}

/* --- who took it --- */

/* The usual tenant, and beside it one that nobody controls. */
static struct bed *beside(bool pulls)
{
	struct bed *b = usual();
	b->alone = true;
	b->pulls = pulls;
	bed_tenant(b, "n", "n", 100, 4 * GIB);
	b->alone = b->pulls = false;
	bed_turn(b);
	return b;
}

static void run_out(struct bed *b)
{
	bed_pass(b, 1000);
	deny(b);
	see(b, "t");
	settle(b);
}

Test(heals_ends, C29_a_neighbour_without_an_owner_is_measured_like_any_other)
{
	struct bed *b = beside(false);
	cr_expect_not(bed_use(b, "n", 10, 4000), "it is of no workload");
	run_out(b);
	cr_expect_eq(first(b)->target.mib, HEALED, "it was within its share");
	bed_free(b);
	b = beside(false);
	(void)bed_use(b, "n", 10, 60 * GIB);
	run_out(b);
	cr_expect_eq(first(b)->target.mib, 8 * GIB);
	cr_expect(is(b, RECOMMENDATION_CONTENTION));
	bed_free(b);
}

Test(heals_ends, a_neighbour_of_whom_nobody_tells_anything_is_told)
{
	struct bed *b = beside(false);
	run_out(b);
	cr_expect_eq(first(b)->target.mib, 8 * GIB);
	cr_expect_not(is(b, RECOMMENDATION_HEALING));
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HEALING), "NeighbourUnknown");
	bed_pass(b, 11 * MINUTE_MS); /* a second restart within ten is our shrink's fault */
	(void)bed_use(b, "n", 10, 4000);
	run_out(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HEALING), "MemoryPressure");
	bed_free(b);
}

Test(heals_ends, what_is_told_of_a_neighbour_ends_with_its_time)
{
	struct bed *b = beside(false);
	run_out(b);
	cr_assert_str_eq(bed_reason(b, WEB, RECOMMENDATION_HEALING), "NeighbourUnknown");
	bed_pass(b, 11 * MINUTE_MS);
	bed_turn(b);
	cr_expect_str_neq(bed_reason(b, WEB, RECOMMENDATION_HEALING), "NeighbourUnknown");
	bed_free(b);
}

Test(heals_ends, a_neighbour_that_has_not_begun_took_nothing)
{
	struct bed *b = beside(true);
	run_out(b);
	cr_expect_eq(first(b)->target.mib, HEALED);
	bed_free(b);
}

Test(heals_ends, a_neighbour_that_is_gone_is_forgotten)
{
	struct bed *b = beside(false);
	(void)bed_use(b, "n", 10, 4000);
	cr_assert_eq(b->sizer->healing.unowned_pods.rows.count, 1);
	bed_turn(b);
	cr_expect_eq(b->sizer->healing.unowned_pods.rows.count, 1);
	bed_pass(b, 3 * MINUTE_MS);
	bed_turn(b);
	cr_expect_eq(b->sizer->healing.unowned_pods.rows.count, 0);
	bed_free(b);
}
