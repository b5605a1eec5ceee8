/* Healing: its scenarios by their numbers, from what is seen of pods to what is requested and told.
 * What each step is, test/unit/right/heal_test.c has. */
#include "healed.h"
#include "tracking/workload_table.h"

Test(heals, H1_an_out_of_memory_is_healed_before_the_next_round)
{
	struct bed *b = usual();
	deny(b);
	scrape(b);
	cr_expect_eq(b->request_count, 1);
	cr_expect_eq(b->request.mib, 9 * GIB + 768);
	cr_expect_eq(b->request.milli, 300);
	const struct recommendation *r = bed_told(b, WEB);
	cr_expect_eq(first(b)->target.mib, 9 * GIB + 768);
	cr_expect_eq(r->healing.kind, HEALING_MEMORY);
	cr_expect_eq(r->healing.step, 1);
	cr_expect_eq(r->healing.until_ms - r->healing.since_ms, 24 * HOUR_MS);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HEALING), "MemoryPressure");
	cr_expect(is(b, RECOMMENDATION_SCALE_DOWN_BLOCKED));
	cr_expect_str_eq(b->reasons, "HealingStarted RecommendationUpdated ");
	bed_free(b);
}

/* Of most there is nothing to be remembered, and then nothing is. */
Test(heals, only_what_was_healed_takes_memory)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "whole", 1);
	bed_turn(b);
	bed_run(b, "whole", 20, 7100, 3);
	cr_expect_null(sized_find(&b->sizer->tracking, "team", WEB)->containers.items[0]->heal);
	bed_free(b);
	b = usual();
	deny(b);
	scrape(b);
	const struct heal_record *h =
		sized_find(&b->sizer->tracking, "team", WEB)->containers.items[0]->heal;
	cr_assert_not_null(h);
	cr_expect(h->answer.healing);
	bed_free(b);
}

Test(heals, H1_an_error_at_the_limit_is_the_same_without_words)
{
	struct bed *b = usual();
	cr_assert(bed_use(b, "t", 10, 7500));
	b->failed_ms = b->now.policy_ms;
	give(b);
	scrape(b);
	cr_expect_eq(b->request.mib, 9 * GIB + 768);
	bed_free(b);
}

Test(heals, H2_a_small_share_grows_by_a_gibibyte)
{
	struct bed *b = tenant_of(bed_new(), 20, 1700);
	cr_assert_eq(first(b)->target.mib, 2 * GIB);
	deny(b);
	scrape(b);
	cr_expect_eq(b->request.mib, 3 * GIB);
	bed_free(b);
}

Test(heals, H3_again_is_half_more_then_a_whole_device)
{
	static const int64_t steps[] = {9 * GIB + 768, 14 * GIB + 768, BED_MIB};
	struct bed *b = usual();
	bed_capacity(b, "capacity-1", "GPU-1"); /* what it told is exact */
	bed_turn(b);
	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		deny(b);
		scrape(b);
		cr_assert_eq(b->request.mib, steps[i], "step %zu", i + 1);
		give(b);
		bed_run(b, "t", 20, 7000, 20);
	}
	deny(b);
	scrape(b);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HEALING), "HealingExhausted");
	bed_free(b);
}

/* Where one replica cannot get the step yet. */
Test(heals, H3_replicas_that_wait_for_their_step_do_not_ask_for_the_next)
{
	struct bed *b = usual();
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	bed_turn(b);
	cr_assert(bed_use(b, "u", 10, GIB));
	deny(b);
	scrape(b);
	cr_assert_eq(first(b)->target.mib, 9 * GIB + 768);
	give(b);
	bed_turn(b);
	for (int i = 0; i < 3; i++) {
		cr_assert(bed_use(b, "t", 10, GIB));
		b->oom_ms = b->failed_ms = b->now.policy_ms;
		bed_tenant(b, "web", "u", 300, 8 * GIB);
		see(b, "u");
		bed_step(b);
		/* What it gets until it is judged is not what it ended with. */
		bed_tenant(b, "web", "u", 300, i == 2 ? 9 * GIB + 768 : 8 * GIB);
		see(b, "u");
		bed_pass(b, 5000);
		bed_turn(b);
		cr_assert_eq(first(b)->target.mib, 9 * GIB + 768, "end %d", i + 1);
	}
	cr_expect_eq(bed_told(b, WEB)->healing.step, 1);
	bed_free(b);
}

Test(heals, H4_a_policy_caps_it)
{
	struct bed *b = bed_new();
	b->sizing.max_mem_mib = 9 * GIB;
	bed_policy(b);
	tenant_of(b, 20, 7100);
	bed_run(b, "t", 20, 7100, 11); /* what follows has nothing to do with its conversion */
	for (int i = 0; i < 4; i++) {
		deny(b);
		scrape(b);
		cr_assert_eq(first(b)->target.mib, 9 * GIB);
		cr_assert_leq(first(b)->uncapped.mib, 13 * GIB + 512);
		cr_assert_eq(first(b)->capped_by, CAPPED_BY_POLICY_MAX);
		cr_assert_str_eq(bed_reason(b, WEB, RECOMMENDATION_CAPPED), "PolicyMax");
		give(b);
		bed_run(b, "t", 20, 7000, 5);
	}
	bed_free(b);
}

Test(heals, H5_it_stays_for_the_hold_and_goes_step_by_step)
{
	struct bed *b = bed_new();
	b->sizing.heal_memory.hold_s = 3600;
	bed_policy(b);
	tenant_of(b, 20, 7100);
	deny(b);
	scrape(b);
	give(b);
	bed_run(b, "t", 20, GIB, 55);
	cr_expect_eq(first(b)->target.mib, 9 * GIB + 768, "for the hold");
	bed_run(b, "t", 20, GIB, 10);
	cr_expect_lt(first(b)->target.mib, 9 * GIB + 768);
	cr_expect_geq(first(b)->target.mib, 8 * GIB);
	give(b);
	bed_run(b, "t", 20, GIB, 31);
	cr_expect_not(is(b, RECOMMENDATION_HEALING));
	cr_expect_not_null(strstr(b->reasons, "HealingEnded "));
	bed_free(b);
}

Test(heals, H5_silence_takes_nothing_back)
{
	struct bed *b = bed_new();
	b->sizing.heal_memory.hold_s = 3600;
	bed_policy(b);
	tenant_of(b, 20, 7100);
	deny(b);
	scrape(b);
	give(b);
	bed_run(b, "t", 20, GIB, 5);
	bed_run(b, NULL, 0, 0, 3 * 60);
	cr_expect_eq(first(b)->target.mib, 9 * GIB + 768);
	cr_expect(is(b, RECOMMENDATION_HEALING));
	bed_free(b);
}

/* 30 % and 8 GiB, of which all compute is needed. */
static struct bed *saturated(void)
{
	struct bed *b = bed_new();
	b->sizing.percentile = 50;
	b->sizing.headroom_percent = 0;
	tenant_of(b, 29, 7100);
	cr_assert_eq(first(b)->target.milli, 300);
	return b;
}

static void press(struct bed *b, int minutes)
{
	bed_run(b, "t", 29, 7000, minutes);
}

Test(heals, H6_requests_that_wait_are_pressure_after_10_minutes)
{
	struct bed *b = saturated();
	b->waiting = 3;
	press(b, 6);
	cr_assert_eq(first(b)->target.milli, 300);
	press(b, 5);
	cr_expect_eq(first(b)->target.milli, 400);
	cr_expect_eq(bed_told(b, WEB)->healing.kind, HEALING_COMPUTE);
	int64_t hold_ms = bed_told(b, WEB)->healing.until_ms - bed_told(b, WEB)->healing.since_ms;
	cr_expect(hold_ms >= 6 * HOUR_MS && hold_ms < 6 * HOUR_MS + 5 * MINUTE_MS,
		"and longer while it lasts");
	bed_free(b);
}

/* Two of three. */
static void press_others(struct bed *b)
{
	cr_assert(bed_use(b, "u", 29, 7000));
	cr_assert(bed_use(b, "v", 29, 7000));
}

Test(heals, H6_replicas_that_wait_for_their_step_do_not_ask_for_the_next)
{
	struct bed *b = saturated();
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	bed_tenant(b, "web", "v", 300, 8 * GIB);
	bed_turn(b);
	b->waiting = 3;
	for (int i = 0; i < 30 && first(b)->target.milli == 300; i++) {
		press_others(b);
		press(b, 1);
	}
	cr_assert_eq(first(b)->target.milli, 400);
	give(b); /* and not the others */
	for (int i = 0; i < 30; i++) {
		press_others(b);
		bed_run(b, "t", 20, 7000, 1);
		cr_assert_eq(first(b)->target.milli, 400, "after %d minutes", i);
	}
	bed_free(b);
}

Test(heals, H6_a_figure_that_comes_while_a_round_counts_is_counted_once)
{
	struct bed *b = saturated();
	const struct sizer *s = b->sizer;
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	bed_turn(b);
	b->waiting = 3;
	for (int i = 0; i < 60; i++) {
		bed_pass(b, 30000);
		b->budget = 1;
		for (int slice = 0; slice < 100; slice++) {
			if (s->phase == SIZER_PODS &&
				workload_at(&s->tracking, 0)->round == s->tracking.round) {
				break;
			}
			bed_step(b);
		}
		cr_assert_eq(s->phase, SIZER_PODS);
		cr_assert(bed_use(b, "t", 29, 7000));
		cr_assert(bed_use(b, "u", 10, 7000));
		b->budget = BED_BUDGET;
		bed_step(b);
		cr_assert_eq(first(b)->target.milli, 300, "one of two is not most of them");
	}
	bed_free(b);
}

Test(heals, H7_saturation_alone_is_pressure_after_30_minutes)
{
	struct bed *b = saturated();
	press(b, 23);
	cr_expect_eq(first(b)->target.milli, 300);
	press(b, 8);
	cr_expect_eq(first(b)->target.milli, 400);
	bed_free(b);
}

Test(heals, H8_what_waits_without_being_full_is_not_healed)
{
	struct bed *b = usual();
	b->waiting = 50;
	bed_run(b, "t", 18, 7000, 40);
	cr_expect_eq(first(b)->target.milli, 300);
	cr_expect_not(is(b, RECOMMENDATION_HEALING));
	bed_free(b);
}

Test(heals, H9_a_full_gpu_is_contention_and_no_reason_to_grow)
{
	struct bed *b = usual();
	bed_tenant(b, "loud", "n", 700, 20 * GIB);
	for (int i = 0; i < 24; i++) {
		bed_turn(b);
		cr_assert(bed_use(b, "n", 78, GIB));
		bed_run(b, "t", 21, 7000, 1);
	}
	cr_expect_eq(first(b)->target.milli, 300);
	cr_expect(is(b, RECOMMENDATION_CONTENTION));
	cr_expect_not(is(b, RECOMMENDATION_HEALING));
	bed_free(b);
}

Test(heals, H9_memory_that_a_neighbour_took_is_not_healed)
{
	struct bed *b = usual();
	bed_tenant(b, "loud", "n", 100, 4 * GIB);
	bed_turn(b);
	cr_assert(bed_use(b, "n", 10, 60 * GIB));
	deny(b);
	scrape(b);
	cr_expect_eq(b->request_count, 0);
	cr_expect(is(b, RECOMMENDATION_CONTENTION));
	bed_free(b);
}

Test(heals, H10_an_end_that_has_nothing_to_do_with_it)
{
	struct bed *b = usual();
	cr_assert(bed_use(b, "t", 10, 2400));
	b->failed_ms = b->now.policy_ms;
	give(b);
	scrape(b);
	bed_turn(b);
	cr_expect_eq(b->request_count, 0);
	cr_expect_not(is(b, RECOMMENDATION_HEALING));
	bed_free(b);
}

Test(heals, H12_what_rises_without_an_end_gets_no_more)
{
	struct bed *b = bed_new();
	b->sizing.window_s = 86400;
	bed_policy(b);
	tenant_of(b, 20, 7100);
	int64_t used = 8000;
	for (int hour = 0; hour < 12 && !is(b, RECOMMENDATION_LEAK_SUSPECTED); hour++) {
		for (int i = 0; i < 6; i++, used += 300) {
			bed_run(b, "t", 20, used, 10);
			give(b);
		}
	}
	cr_assert(is(b, RECOMMENDATION_LEAK_SUSPECTED));
	cr_expect_not_null(strstr(b->reasons, "LeakSuspected "));
	int64_t target = first(b)->target.mib;
	bed_run(b, "t", 20, target, 30);
	cr_expect_eq(first(b)->target.mib, target);
	bed_restart(b);
	bed_turn(b);
	cr_expect(is(b, RECOMMENDATION_LEAK_SUSPECTED), "it is remembered");
	bed_free(b);
}

Test(heals, H13_a_policy_without_healing_gets_an_event)
{
	struct bed *b = bed_new();
	b->sizing.heal_memory.enabled = false;
	bed_policy(b);
	tenant_of(b, 20, 7100);
	deny(b);
	scrape(b);
	bed_turn(b);
	cr_expect_eq(b->request_count, 0);
	cr_expect_eq(first(b)->target.mib, 8 * GIB);
	cr_expect_not(is(b, RECOMMENDATION_HEALING));
	cr_expect_str_eq(b->reasons, "OutOfMemory ");
	bed_free(b);
}

Test(heals, near_the_limit_for_5_minutes_is_healed_at_the_scrape)
{
	struct bed *b = bed_new();
	b->sizing.mem_headroom_percent = 0;
	tenant_of(b, 20, 8100);
	cr_assert(bed_use(b, "t", 10, 8100));
	bed_step(b);
	for (int64_t at = 6000; at <= 291000; at += 15000) {
		bed_pass(b, at == 6000 ? 6000 : 15000);
		bed_step(b); /* the round comes before the figure */
		cr_assert(bed_use(b, "t", 10, 8100));
		bed_step(b);
		cr_assert_eq(b->request_count, 0, "after %lld ms", (long long)at);
	}
	struct sizer_totals before, after;
	sizer_sum(b->sizer, &before);
	bed_pass(b, 9000);
	cr_assert(bed_use(b, "t", 10, 8100));
	bed_step(b);
	sizer_sum(b->sizer, &after);
	cr_assert_eq(before.rounds, after.rounds, "it waits for no round");
	cr_expect_eq(b->request_count, 1);
	cr_expect_eq(b->request.mib, 9 * GIB + 768);
	bed_free(b);
}

Test(heals, an_end_before_its_pod_was_seen_is_old_and_one_after_it_is_not)
{
	struct bed *b = usual();
	b->oom_ms = b->failed_ms = b->now.policy_ms - 5 * MINUTE_MS;
	bed_pod_gone(b, "t");
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	for (int i = 0; i < 3; i++) {
		bed_turn(b);
	}
	cr_expect_eq(b->request_count, 0, "another process has seen it");
	b->oom_ms = b->failed_ms = b->now.policy_ms - 2 * MINUTE_MS; /* by its kubelet's clock */
	bed_tenant(b, "web", "u", 300, 8 * GIB);
	for (int i = 0; i < 3; i++) {
		bed_turn(b);
	}
	cr_expect_eq(b->request_count, 1);
	bed_free(b);
}

Test(heals, what_a_person_asked_for_is_not_healed)
{
	struct bed *b = bed_new();
	b->unadvised = true;
	tenant_of(b, 20, 7100);
	deny(b);
	scrape(b);
	cr_expect_eq(b->request_count, 0);
	bed_free(b);
}

Test(heals, pods_that_are_not_changed_while_they_run_are_healed_all_the_same)
{
	struct bed *b = bed_new();
	b->kinds[0] = (struct rollout_kind){"Deployment", ROLLOUT_ON_CREATE};
	b->kind_count = 1;
	tenant_of(b, 20, 7100);
	deny(b);
	scrape(b);
	cr_expect_eq(b->request_count, 1);
	cr_expect_eq(b->request.mib, 9 * GIB + 768);
	bed_free(b);
}

Test(heals, a_restart_of_ours_takes_no_step_twice)
{
	struct bed *b = usual();
	deny(b);
	scrape(b);
	give(b);
	bed_restart(b);
	for (int i = 0; i < 3; i++) {
		bed_turn(b); /* it is seen, then it is judged */
	}
	cr_expect_eq(first(b)->target.mib, 9 * GIB + 768);
	cr_expect(is(b, RECOMMENDATION_HEALING));
	cr_expect(is(b, RECOMMENDATION_SCALE_DOWN_BLOCKED));
	bed_free(b);
}

Test(heals, a_restart_of_ours_takes_no_second_step_twice_either)
{
	struct bed *b = usual();
	for (int i = 0; i < 2; i++) {
		deny(b);
		scrape(b);
		give(b);
		if (i == 0) {
			bed_run(b, "t", 20, 7000, 20);
		}
	}
	cr_assert_eq(first(b)->target.mib, 14 * GIB + 768);
	bed_restart(b);
	for (int i = 0; i < 3; i++) {
		bed_turn(b); /* it is seen, then it is judged */
	}
	cr_expect_eq(first(b)->target.mib, 14 * GIB + 768);
	cr_expect_eq(bed_told(b, WEB)->healing.step, 2);
	bed_free(b);
}
