/* A shrink of ours after which a pod restarts again and again is undone. */
#include "healed.h"

/* From 40 % to 20 %, which came to the tenant. */
static struct bed *shrunk(void)
{
	struct bed *b = tenant_of(bed_new(), 31, 7100);
	cr_assert_eq(first(b)->target.milli, 400);
	for (int i = 0; i < 240 && first(b)->target.milli == 400; i++) {
		bed_run(b, "t", 14, 7100, 1);
	}
	cr_assert_lt(first(b)->target.milli, 400);
	give(b);
	bed_turn(b);
	return b;
}

Test(heals_shrink, H11_restarts_after_our_shrink_undo_it)
{
	struct bed *b = shrunk();
	b->reasons[0] = '\0';
	b->restarts = 1;
	give(b);
	scrape(b);
	cr_assert_lt(first(b)->target.milli, 400);
	bed_turn(b);
	b->restarts = 2;
	give(b);
	scrape(b);
	const struct recommendation *r = bed_told(b, WEB);
	cr_expect_eq(first(b)->target.milli, 400);
	cr_expect_eq(b->request.milli, 400);
	cr_expect_eq(r->healing.kind, HEALING_ROLLBACK);
	cr_expect_eq(r->healing.until_ms - r->healing.since_ms, 72 * HOUR_MS);
	cr_expect(is(b, RECOMMENDATION_PAUSED));
	cr_expect_str_eq(b->reasons, "RolledBack AutomationPaused RecommendationUpdated ");
	/* It is remembered. */
	bed_restart(b);
	bed_turn(b);
	cr_expect(is(b, RECOMMENDATION_PAUSED));
	cr_expect_eq(first(b)->target.milli, 400);
	/* A policy that says something new ends the pause, and not what it got back. */
	b->policy_generation = 2;
	bed_policy(b);
	bed_turn(b);
	cr_expect_not(is(b, RECOMMENDATION_PAUSED));
	cr_expect_eq(first(b)->target.milli, 400);
	bed_free(b);
}

Test(heals_shrink, H11_restarts_later_are_its_own)
{
	struct bed *b = shrunk();
	bed_run(b, "t", 14, 7100, 11);
	b->restarts = 5;
	give(b);
	scrape(b);
	bed_turn(b);
	cr_expect_lt(first(b)->target.milli, 400);
	cr_expect_not(is(b, RECOMMENDATION_PAUSED));
	bed_free(b);
}

Test(heals_shrink, H11_restarts_of_several_pods_are_no_loop)
{
	static const char *const names[] = {"u", "v", "w"};
	struct bed *b = shrunk();
	b->restarts = 1;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		bed_tenant(b, "web", names[i], first(b)->target.milli, first(b)->target.mib);
		bed_turn(b);
		cr_assert_not(is(b, RECOMMENDATION_PAUSED), "each waited for something once");
	}
	b->restarts = 2;
	bed_tenant(b, "web", "v", first(b)->target.milli, first(b)->target.mib);
	bed_turn(b);
	cr_expect(is(b, RECOMMENDATION_PAUSED), "it is one that restarts again");
	bed_free(b);
}

Test(heals_shrink, H11_a_shrink_that_did_well_is_no_cause_of_later_restarts)
{
	struct bed *b = shrunk();
	int64_t target = 0;
	b->ready = true;
	for (int i = 0, same = 0; i < 600 && same <= 61; i++) {
		same = first(b)->target.milli == target ? same + 1 : 0;
		target = first(b)->target.milli;
		give(b);
		bed_run(b, "t", 14, 7100, 1);
	}
	b->restarts = 2;
	bed_tenant(b, "web", "u", first(b)->target.milli, first(b)->target.mib);
	bed_turn(b);
	cr_expect_not(is(b, RECOMMENDATION_PAUSED));
	cr_expect_lt(first(b)->target.milli, 400);
	bed_free(b);
}

Test(heals_shrink, H11_restarts_of_who_did_not_get_the_shrink_are_its_own)
{
	struct bed *b = tenant_of(bed_new(), 31, 7100);
	bed_tenant(b, "web", "o", 300, 8 * GIB);
	for (int i = 0; i < 240 && first(b)->target.milli == 400; i++) {
		bed_run(b, "t", 14, 7100, 1);
	}
	cr_assert_lt(first(b)->target.milli, 400);
	bed_turn(b);
	b->restarts = 2;
	bed_tenant(b, "web", "o", 300, 8 * GIB);
	bed_turn(b);
	cr_expect_not(is(b, RECOMMENDATION_PAUSED));
	bed_free(b);
}

Test(heals_shrink, H11_a_conversion_is_undone_like_any_other)
{
	struct bed *b = bed_new();
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_pod(b, "web", "whole", 1);
	bed_turn(b);
	bed_run(b, "whole", 20, 7100, 35);
	bed_pod_gone(b, "whole");
	give(b);
	bed_turn(b);
	b->restarts = 2;
	give(b);
	scrape(b);
	cr_expect_eq(first(b)->target.milli, 1000);
	cr_expect(is(b, RECOMMENDATION_PAUSED));
	bed_restart(b);
	bed_turn(b);
	cr_expect_eq(first(b)->target.milli, 1000);
	cr_expect(is(b, RECOMMENDATION_PAUSED));
	bed_pass(b, 72 * HOUR_MS);
	bed_run(b, "t", 20, 7100, 40);
	cr_expect_not(is(b, RECOMMENDATION_PAUSED));
	cr_expect_eq(first(b)->target.milli, 300, "it is tried again");
	bed_free(b);
}
