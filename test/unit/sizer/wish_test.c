/* Which tenants that run should have another share where they are. */
#include "bed.h"

#define WEB "deployment-web"

/* A workload with a target of 30 % and 7 GiB in mode Automate, and no pod any more. */
static struct bed *automated(void)
{
	struct bed *b = bed_new();
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_pod(b, "web", "whole", 1);
	bed_turn(b);
	bed_run(b, "whole", 20, 6144, 35);
	cr_assert_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	bed_pod_gone(b, "whole");
	return b;
}

Test(wish, a_tenant_that_differs_is_named_once)
{
	struct bed *b = automated();
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_assert_eq(b->wish_count, 1);
	cr_expect_str_eq(b->wish.uid, "t");
	cr_expect_eq(b->wish.milli, 300);
	cr_expect_eq(b->wish.mib, 7168);
	bed_tenant(b, "web", "t", 300, 7168);
	bed_turn(b);
	cr_expect_eq(b->wish_count, 1);
	cr_expect_eq(bed_told(b, WEB)->pods.up_to_date, 1);
	bed_free(b);
}

Test(wish, nobody_is_named_where_the_policy_only_recommends)
{
	struct bed *b = automated();
	b->mode = MODE_RECOMMEND;
	bed_policy(b);
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->wish_count, 0);
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->wish_count, 1, "O6");
	b->mode = MODE_RECOMMEND;
	bed_policy(b);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->wish_count, 2);
	cr_expect_eq(b->wish.milli, 0, "it is taken back");
	bed_free(b);
}

Test(wish, u6_where_running_pods_are_not_touched)
{
	struct bed *b = automated();
	b->kinds[0] = (struct rollout_kind){"Deployment", ROLLOUT_ON_CREATE};
	b->kind_count = 1;
	bed_policy(b);
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->wish_count, 0);
	bed_free(b);
}

Test(wish, what_a_person_asked_for_stays)
{
	struct bed *b = automated();
	b->unadvised = true;
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->wish_count, 0);
	bed_free(b);
}

Test(wish, memory_that_was_taken_ahead_of_need_stays)
{
	struct bed *b = automated();
	struct sized *x = sized_find(b->sizer, "team", WEB);
	history_kept(x->containers.items[0]->history)->memory_class = MEMORY_PREALLOCATED;
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_assert_eq(b->wish_count, 1);
	cr_expect_eq(b->wish.milli, 300);
	cr_expect_eq(b->wish.mib, 20480);
	bed_free(b);
}

Test(wish, r13_on_a_silence_nothing_begins)
{
	struct bed *b = automated();
	bed_tenant(b, "web", "t", 300, 7168);
	bed_turn(b);
	bed_run(b, NULL, 0, 0, 10);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Stale");
	bed_tenant(b, "web", "u", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->wish_count, 0);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	bed_free(b);
}
