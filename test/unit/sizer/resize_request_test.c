/* Which tenants that run should have another share where they are. */
#include "bed.h"
#include "tracking/workload_table.h"

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
	cr_assert_eq(b->request_count, 1);
	cr_expect_str_eq(b->request.uid, "t");
	cr_expect_eq(b->request.milli, 300);
	cr_expect_eq(b->request.mib, 7168);
	bed_tenant(b, "web", "t", 300, 7168);
	bed_turn(b);
	cr_expect_eq(b->request_count, 1);
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
	cr_expect_eq(b->request_count, 0);
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->request_count, 1, "O6");
	b->mode = MODE_RECOMMEND;
	bed_policy(b);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->request_count, 2);
	cr_expect_eq(b->request.milli, 0, "it is taken back");
	bed_free(b);
}

static size_t wishes_under(enum rollout_strategy strategy)
{
	struct bed *b = automated();
	b->kinds[0] = (struct rollout_kind){"Deployment", strategy};
	b->kind_count = 1;
	bed_policy(b);
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	size_t count = b->request_count;
	bed_free(b);
	return count;
}

/* It replaces nobody, whatever the reference does. */
Test(wish, u6_books_change_where_running_pods_are_not_replaced)
{
	cr_expect_eq(wishes_under(ROLLOUT_ON_CREATE), 1);
	cr_expect_eq(wishes_under(ROLLOUT_ONGOING), 1);
}

Test(wish, nothing_is_asked_for_where_no_pod_is_sized)
{
	cr_expect_eq(wishes_under(ROLLOUT_NEVER), 0);
}

Test(wish, what_runs_and_ends_by_itself_only_grows)
{
	struct bed *b = automated();
	b->sizing.keeps_running = true;
	bed_policy(b);
	bed_tenant(b, "web", "t", 500, 4096);
	bed_turn(b);
	bed_turn(b);
	cr_assert_eq(b->request_count, 1);
	cr_expect_eq(b->request.milli, 500);
	cr_expect_eq(b->request.mib, 7168);
	bed_free(b);
}

/* --- what became of it --- */

static const struct recommended_condition *blocked(struct bed *b)
{
	return &bed_told(b, WEB)->conditions[RECOMMENDATION_UPDATE_BLOCKED];
}

Test(wish, i7_a_full_gpu_is_named)
{
	struct bed *b = automated();
	bed_tenant(b, "web", "t", 200, 4096);
	b->resize_status = (struct share_fate){SHARE_UNDERWAY, NULL};
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(blocked(b)->status, CONDITION_ABSENT);
	b->resize_status = (struct share_fate){SHARE_NO_ROOM, "GPU-1"};
	bed_turn(b);
	cr_expect_eq(blocked(b)->status, CONDITION_TRUE);
	cr_expect_str_eq(blocked(b)->reason, "NoRoomOnGPU");
	cr_expect_str_eq(blocked(b)->message,
		"t should have 30% and 7Gi: its GPU GPU-1 has no room for it, or gives nobody "
		"more. "
		"What it has stays; it is tried again as soon as something changes there, and "
		"looked at again every 10 seconds.");
	cr_expect(b->sizer->tracking.pods.items[0]->stuck);
	b->resize_status = (struct share_fate){SHARE_HELD, NULL};
	bed_tenant(b, "web", "t", 300, 7168);
	bed_turn(b);
	cr_expect_eq(blocked(b)->status, CONDITION_ABSENT);
	cr_expect_not(b->sizer->tracking.pods.items[0]->stuck);
	bed_free(b);
}

Test(wish, i7_a_quota_is_named)
{
	struct bed *b = automated();
	bed_tenant(b, "web", "t", 200, 4096);
	bed_tenant(b, "web", "u", 200, 4096);
	bed_turn(b);
	b->resize_status = (struct share_fate){SHARE_QUOTA, "gpus"};
	bed_turn(b);
	cr_expect_str_eq(text_or(blocked(b)->reason, "absent"), "Quota");
	cr_expect(strstr(blocked(b)->message, " and 1 more of its pods") != NULL &&
			  strstr(blocked(b)->message, "the ResourceQuota gpus has no room") != NULL,
		"%s", blocked(b)->message);
	bed_pod_gone(b, "t");
	bed_pod_gone(b, "u");
	bed_turn(b);
	cr_expect_eq(blocked(b)->status, CONDITION_ABSENT);
	bed_free(b);
}

/* A policy may take what such a one uses for what it needs. Its compute changes where it is, its
 * memory with the pod, and that is said. */
Test(wish, memory_that_a_framework_was_told_waits_for_another_pod)
{
	struct bed *b = automated();
	b->sizing.preallocated = PREALLOCATED_SHRINK;
	b->policy_generation++;
	bed_policy(b);
	b->told_memory = true;
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_assert_eq(b->request_count, 1);
	cr_expect_eq(b->request.milli, 300);
	cr_expect_eq(b->request.mib, 20480);
	bed_tenant(b, "web", "t", 300, 20480);
	b->resize_status = (struct share_fate){SHARE_HELD, NULL};
	bed_turn(b);
	bed_turn(b);
	const struct recommended_condition *c =
		&bed_told(b, WEB)->conditions[RECOMMENDATION_APPLIED];
	cr_expect_eq(c->status, CONDITION_FALSE);
	cr_expect_str_eq(c->reason, "MemoryStays");
	cr_expect(b->sizer->tracking.pods.items[0]->memory_stays);
	cr_expect_eq(bed_told(b, WEB)->pods.up_to_date, 0);
	bed_free(b);
}

Test(wish, what_a_person_asked_for_stays)
{
	struct bed *b = automated();
	b->unadvised = true;
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_expect_eq(b->request_count, 0);
	bed_free(b);
}

Test(wish, memory_that_was_taken_ahead_of_need_stays)
{
	struct bed *b = automated();
	struct sized_workload *x = sized_find(&b->sizer->tracking, "team", WEB);
	history_kept(x->containers.items[0]->history)->memory_class = MEMORY_PREALLOCATED;
	bed_tenant(b, "web", "t", 500, 20480);
	bed_turn(b);
	bed_turn(b);
	cr_assert_eq(b->request_count, 1);
	cr_expect_eq(b->request.milli, 300);
	cr_expect_eq(b->request.mib, 20480);
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
	cr_expect_eq(b->request_count, 0);
	cr_expect_eq(bed_told(b, WEB)->containers[0].target.milli, 300);
	bed_free(b);
}
