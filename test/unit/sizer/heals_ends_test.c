/* Pods that end for good, as restartPolicy Never has it: what the next one gets. */
#include "healed.h"

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

Test(heals_ends, the_next_run_of_one_that_ran_out_of_memory_gets_more)
{
	struct bed *b = ended(true, 7100);
	settle(b);
	cr_expect_null(pods_find(b->sizer, "t"), "it is none of its pods any more");
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
