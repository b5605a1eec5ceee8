/* Which policy, and what comes of a history under it. */
#include "bed.h"

#include "size/builtin.h"

#define WEB "deployment-web"

static const struct recommended_container *container(struct bed *b)
{
	cr_assert_eq(bed_told(b, WEB)->container_count, 1);
	return &bed_told(b, WEB)->containers[0];
}

static struct bed *learnt(void)
{
	struct bed *b = bed_new();
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 35);
	return b;
}

Test(decide, o7_without_a_policy_the_built_in_one_holds)
{
	struct bed *b = bed_new();
	struct change gone = {.type = CHANGE_GONE, .kind = KIND_POLICY, .name = "quick"};
	world_apply(b->world, &gone);
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_turn(b);
	cr_expect_str_eq(bed_told(b, WEB)->policy.name, policy_builtin()->name);
	bed_free(b);
}

Test(decide, o6_the_mode_is_told)
{
	struct bed *b = learnt();
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_READY), "Recommending");
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_turn(b);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_READY), "Ready");
	b->kinds[0] = (struct rollout_kind){"Deployment", ROLLOUT_NEVER};
	b->kind_count = 1;
	b->policy_generation++;
	bed_policy(b);
	bed_turn(b);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_READY), "NeverSized");
	b->kind_count = 0;
	b->mode = MODE_DISABLED;
	bed_policy(b);
	bed_turn(b);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_READY), "Disabled");
	bed_free(b);
}

Test(decide, r7_a_bound_of_the_policy)
{
	struct bed *b = learnt();
	b->sizing.max_percent = 25;
	b->sizing.scale_down_delay_s = 0;
	bed_policy(b);
	bed_run(b, "web-1", 20, 6144, 2);
	cr_expect_eq(container(b)->target.milli, 250);
	cr_expect_eq(container(b)->uncapped.milli, 300);
	cr_expect_eq(container(b)->capped_by, CAPPED_BY_POLICY_MAX);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_CAPPED), "PolicyMax");
	bed_free(b);
}

Test(decide, r13_silence_is_stale_and_changes_nothing)
{
	struct bed *b = learnt();
	bed_run(b, NULL, 0, 0, 6);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Stale");
	cr_expect_eq(container(b)->target.milli, 300);
	cr_expect(recommendation_holds(bed_told(b, WEB)));
	bed_free(b);
}

Test(decide, r10_growth_at_once_and_shrinking_after_the_delay)
{
	struct bed *b = learnt();
	bed_run(b, "web-1", 40, 6144, 9);
	cr_expect_eq(container(b)->target.milli, 550);
	int64_t revision = bed_told(b, WEB)->revision;
	bed_run(b, "web-1", 5, 6144, 5);
	cr_expect_eq(container(b)->target.milli, 550);
	cr_expect_eq(bed_told(b, WEB)->revision, revision);
	bed_free(b);
}

/* R12: who the workload is stands in its pods; nobody reads the Deployment for what is known. */
Test(decide, r12_a_pod_that_is_gone_takes_nothing_with_it)
{
	struct bed *b = learnt();
	bed_pod_gone(b, "web-1");
	bed_run(b, NULL, 0, 0, 10);
	cr_expect_eq(container(b)->target.milli, 300);
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_HISTORY_SUFFICIENT), "Sufficient",
		"without pods nothing is stale");
	bed_pod(b, "web", "web-2", 1);
	bed_turn(b);
	bed_run(b, "web-2", 20, 6144, 2);
	cr_expect_eq(container(b)->target.milli, 300);
	bed_free(b);
}

Test(decide, U14_compute_stays_where_an_autoscaler_scales_on_it)
{
	struct bed *b = bed_new();
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_scaler(b, "web", "DCGM_FI_DEV_GPU_UTIL");
	bed_pod(b, "web", "whole", 1);
	bed_turn(b);
	bed_run(b, "whole", 20, 6144, 35);
	const struct recommendation *r = bed_told(b, "deployment-web");
	cr_expect_eq(r->containers[0].target.milli, 0, "it stays whole");
	cr_expect_str_eq(
		bed_reason(b, "deployment-web", RECOMMENDATION_READY), "HorizontalScalerOnGPU");
	cr_expect_str_eq(bed_reason(b, "deployment-web", RECOMMENDATION_UPDATE_BLOCKED),
		"HorizontalScalerOnGPU");
	const char *why = r->conditions[RECOMMENDATION_UPDATE_BLOCKED].message;
	cr_expect(strstr(why, "HorizontalPodAutoscaler scaler") != NULL, "%s", why);
	cr_expect(strstr(why, "DCGM_FI_DEV_GPU_UTIL") != NULL, "%s", why);

	bed_scaler(b, "web", "queue_length");
	bed_run(b, "whole", 20, 6144, 2);
	cr_expect_eq(bed_told(b, "deployment-web")->containers[0].target.milli, 300);
	cr_expect_str_eq(bed_reason(b, "deployment-web", RECOMMENDATION_UPDATE_BLOCKED), "absent");
	bed_free(b);
}

Test(decide, U14_memory_is_sized_all_the_same)
{
	struct bed *b = bed_new();
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	bed_pod(b, "web", "whole", 1);
	bed_turn(b);
	bed_run(b, "whole", 20, 6144, 35);
	bed_pod_gone(b, "whole");
	bed_tenant(b, "web", "t", 300, 7168);
	bed_scaler(b, "web", "gpu_utilization");
	bed_turn(b);
	bed_run(b, "t", 60, 12288, 35);
	const struct recommended_container *c = bed_told(b, "deployment-web")->containers;
	cr_expect_eq(c->target.milli, 300);
	cr_expect_gt(c->target.mib, 12288);
	cr_expect_eq(b->request.milli, 300);
	cr_expect_eq(b->request.mib, c->target.mib);
	bed_scaler_gone(b);
	bed_run(b, "t", 60, 12288, 2);
	cr_expect_gt(bed_told(b, "deployment-web")->containers[0].target.milli, 600);
	bed_free(b);
}

/* The Deployment's pods ask for it; whoever made them was a ReplicaSet. */
static void asked(struct bed *b, const char *fraction, const char *memory)
{
	struct pair labels[] = {{"pod-template-hash", "1234abcd"}};
	struct pair notes[] = {{NOTE_GPU_FRACTION, fraction}, {NOTE_GPU_MEMORY, memory}};
	struct container main = {.name = "main", .gpus = 1};
	struct pod p = {.ns = "team",
		.name = "web-1",
		.uid = "web-1",
		.resource_version = "1",
		.node = "node",
		.phase = POD_RUNNING,
		.created_ms = b->now.policy_ms,
		.labels = {labels, 1},
		.notes = {notes, 2},
		.owner = {"apps/v1", "ReplicaSet", "web-1234abcd", "rs"},
		.containers = &main,
		.container_count = 1,
		.gpus = 1};
	struct change c = {.kind = KIND_POD, .pod = &p};
	bed_world(b, &c);
	bed_turn(b);
	bed_turn(b);
}

Test(decide, c6_a_wish_that_the_policy_bounds_is_told)
{
	struct bed *b = bed_new();
	b->sizing.max_percent = 50;
	b->sizing.max_mem_mib = 8192;
	b->mode = MODE_AUTOMATE;
	bed_policy(b);
	asked(b, "0.9", "4Gi");
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_CLAMPED), "PolicyBounds");
	const char *said = bed_told(b, WEB)->conditions[RECOMMENDATION_CLAMPED].message;
	cr_expect_not_null(strstr(said, "asked for 0.9"), "%s", said);
	cr_expect_not_null(strstr(said, "gets 0.5"), "%s", said);
	cr_expect_not_null(strstr(said, "GPUPolicy quick"), "%s", said);
	bed_pod_gone(b, "web-1");
	asked(b, "0.5", "8Gi");
	cr_expect_str_eq(bed_reason(b, WEB, RECOMMENDATION_CLAMPED), "absent");
	bed_free(b);
}

Test(decide, a_workload_that_stays_whole_says_what_for)
{
	struct bed *b = bed_new();
	bed_scaler(b, "web", "DCGM_FI_DEV_GPU_UTIL");
	bed_pod(b, "web", "web-1", 1);
	bed_turn(b);
	bed_run(b, "web-1", 20, 6144, 35);
	const struct recommended_condition *c =
		&bed_told(b, WEB)->conditions[RECOMMENDATION_RECOMMENDED];
	cr_expect_eq(c->status, CONDITION_FALSE);
	cr_expect_str_eq(c->reason, "HorizontalScalerOnGPU");
	cr_expect_not_null(strstr(c->message, "horizontal autoscaler"), "%s", c->message);
	bed_scaler_gone(b);
	b->sizing.scale_down_delay_s = 7200;
	bed_policy(b);
	bed_turn(b);
	c = &bed_told(b, WEB)->conditions[RECOMMENDATION_RECOMMENDED];
	cr_expect_str_eq(c->reason, "ScaleDownDelay");
	cr_expect_not_null(strstr(c->message, "not before 2026-"), "%s", c->message);
	bed_free(b);
}
