/* The other states that a GPURecommendation explains: what is not known yet, what is not applied
 * and why, what bounds it, and what healing does. Each ends as golden/NAME.json, as in
 * blocked_test.c. */
#include "quick.h"

/* --- nothing is done with the target --- */

Test(scenario, state_of_mode_disabled)
{
	struct scene *s = quick_one(QUICK("Disabled", UPDATE("")), &quick_plain);
	quick_learn(s);
	scene_expect_reason(s, WEB, "Ready", "False", "Disabled");
	scene_golden(s, WEB, "disabled");
}

Test(scenario, state_of_a_kind_that_is_never_sized)
{
	struct scene *s = quick_one(
		QUICK("Automate",
			UPDATE(",\"byKind\":[{\"kind\":\"Deployment\",\"strategy\":\"Never\"}]")),
		&quick_plain);
	quick_learn(s);
	scene_expect_reason(s, WEB, "Ready", "False", "NeverSized");
	scene_golden(s, WEB, "never-sized");
}

#define READY "status.conditions.Ready.message"

/* By whoever says Recommend. */
Test(scenario, what_applies_a_target_that_is_only_shown)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("")),
		&(struct scene_pod){
			.name = "web-1", .notes = "\"aliquot.dev/mode\":\"Recommend\""});
	quick_learn(s);
	scene_expect_reason(s, WEB, "Ready", "True", "Recommending");
	cr_expect_not_null(strstr(scene_text(s, WEB, READY), "the annotation aliquot.dev/mode"));
	scene_free(s);
	s = quick_one(NULL, &quick_plain);
	scene_run(s, DAY + 2);
	scene_expect(s, WEB, "status.policy.name", "builtin-default");
	cr_expect_not_null(strstr(scene_text(s, WEB, READY), "a GPUPolicy in mode Automate, or"));
	scene_free(s);
}

/* --- what is not known, or not applied yet --- */

/* Enough is known after an hour, and a share has to be enough for a day. */
Test(scenario, state_of_a_workload_that_is_whole_for_a_while_yet)
{
	struct scene *s = quick_one(
		QUICK("Automate", ",\"update\":{\"scaleDownDelaySeconds\":86400}"), &quick_plain);
	quick_learn(s);
	scene_expect_reason(s, WEB, "Ready", "False", "ScaleDownDelay");
	scene_golden(s, WEB, "scale-down-delay");
}

Test(scenario, state_of_a_notebook_that_is_at_work)
{
	struct scene *s = quick_one(NULL, &(struct scene_pod){.name = "book-0",
						  .owner_api = "kubeflow.org/v1",
						  .owner_kind = "Notebook",
						  .owner = "book",
						  .notes = "\"aliquot.dev/mode\":\"Automate\""});
	scene_run(s, 13 * HOUR);
	scene_expect_reason(s, "notebook-book", "Ready", "False", "InUse");
	scene_golden(s, "notebook-book", "in-use");
}

Test(scenario, state_of_what_is_silent_before_enough_is_known)
{
	struct scene *s = quick_one(
		QUICK("Automate", ",\"update\":{\"scaleDownDelaySeconds\":86400}"), &quick_plain);
	quick_learn(s);
	scene_silence(s, true);
	scene_run(s, 15);
	scene_expect_reason(s, WEB, "Ready", "False", "Stale");
	scene_golden(s, WEB, "silent-and-whole");
}

/* A whole pod is learnt; then a tenant of what it is recommended takes its place. */
static struct scene *converted(const char *policy, int percent, int mib, int64_t milli, int64_t has)
{
	struct scene *s = quick_one(policy, &quick_plain);
	scene_use(s, "web-1", percent, mib);
	scene_run(s, HOUR + 5);
	scene_pod_gone(s, "web-1");
	scene_pod(s, &(struct scene_pod){.name = "web-2", .milli = milli, .mib = has});
	scene_use(s, "web-2", percent, mib);
	scene_resizes(s, true);
	scene_run(s, 3);
	scene_expect_reason(s, WEB, "Applied", "True", "Applied");
	return s;
}

/* For whatever type a workload is taken for. */
static void usual_policy(struct str *out, const char *more)
{
	static const char base[] = QUICK("Automate", UPDATE("") ",\"selector\":{}");
	str_append_format(out, "%.*s%s}", (int)sizeof base - 2, base, more);
}

static struct scene *usual(const char *more)
{
	CLEANUP(str_finish) struct str policy = STR_INIT(4096);
	usual_policy(&policy, more);
	return converted(str_text(&policy), 20, 7100, 300, 8192);
}

Test(scenario, state_in_which_all_is_well)
{
	struct scene *s = usual("");
	scene_expect_reason(s, WEB, "Ready", "True", "Ready");
	scene_golden(s, WEB, "applied");
}

Test(scenario, state_of_a_difference_too_small)
{
	struct scene *s = usual("");
	scene_use(s, "web-2", 20, 7300);
	scene_run(s, 20);
	scene_expect_reason(s, WEB, "Recommended", "True", "BelowThreshold");
	scene_golden(s, WEB, "below-threshold");
}

/* Two days of its window are gone, and it was silent in most of them. */
Test(scenario, state_of_what_is_learnt_anew)
{
	struct scene *s = usual("");
	scene_silence(s, true);
	scene_run(s, 3 * DAY);
	scene_silence(s, false);
	scene_run(s, 10);
	scene_expect_reason(s, WEB, "HistorySufficient", "False", "Relearning");
	scene_golden(s, WEB, "relearning");
}

/* --- bounds --- */

Test(scenario, state_under_the_policys_maximum)
{
	struct scene *s = quick_one(
		QUICK("Automate", UPDATE("") ",\"memory\":{\"max\":\"4Gi\"}"), &quick_plain);
	quick_learn(s);
	scene_expect_reason(s, WEB, "Capped", "True", "PolicyMax");
	scene_golden(s, WEB, "capped-by-maximum");
}

Test(scenario, state_over_the_policys_minimum)
{
	struct scene *s = quick_one(
		QUICK("Automate", UPDATE("") ",\"compute\":{\"minPercent\":50}"), &quick_plain);
	quick_learn(s);
	scene_expect_reason(s, WEB, "Capped", "True", "PolicyMin");
	scene_golden(s, WEB, "capped-by-minimum");
}

Test(scenario, state_at_the_end_of_the_gpu)
{
	struct scene *s = quick_one(
		QUICK("Automate", UPDATE("") ",\"memory\":{\"preallocated\":\"IgnoreAndShrink\"}"),
		&quick_plain);
	scene_use(s, "web-1", 20, 79000);
	quick_learn(s);
	scene_expect_reason(s, WEB, "Capped", "True", "Device");
	scene_golden(s, WEB, "capped-by-device");
}

/* What a person asks for is less than the policy gives at least. */
Test(scenario, state_of_a_wish_outside_the_policys_bounds)
{
	struct scene *s =
		quick_one(QUICK("Automate", UPDATE("") ",\"compute\":{\"minPercent\":20}"),
			&(struct scene_pod){
				.name = "web-1", .notes = "\"aliquot.dev/gpu-fraction\":\"0.10\""});
	scene_run(s, 5);
	scene_expect_reason(s, WEB, "Clamped", "True", "PolicyBounds");
	scene_golden(s, WEB, "clamped");
}

Test(scenario, state_of_a_wish_too_small_for_any_process)
{
	struct scene *s = quick_one(NULL, &(struct scene_pod){.name = "web-1",
						  .notes = "\"aliquot.dev/gpu-memory\":\"64Mi\""});
	scene_run(s, 5);
	scene_expect_reason(s, WEB, "Clamped", "True", "CudaContext");
	scene_golden(s, WEB, "clamped-by-cuda");
}

Test(scenario, state_of_an_idle_workload)
{
	struct scene *s = quick_one(QUICK("Recommend", UPDATE("")), &quick_plain);
	scene_use(s, "web-1", 0, 6144);
	scene_run(s, DAY + HOUR);
	scene_expect_reason(s, WEB, "Idle", "True", "NoUse");
	scene_golden(s, WEB, "idle");
}

/* --- memory that a framework takes ahead of need --- */

#define VLLM "vllm/vllm-openai:v0.11.0"
#define POOL(bytes)                                                                                \
	"# TYPE vllm:cache_config_info gauge\n"                                                    \
	"vllm:cache_config_info{block_size=\"16\",kv_cache_memory_bytes=\"" bytes                  \
	"\",num_gpu_blocks=\"29491\",num_gpu_blocks_override=\"None\"} 1.0\n"                      \
	"# TYPE vllm:kv_cache_usage_perc gauge\n"                                                  \
	"vllm:kv_cache_usage_perc{engine=\"0\"} 0.2\n"

static void framework(const char *more, const char *app, const char *reason, const char *name)
{
	CLEANUP(str_finish) struct str policy = STR_INIT(4096);
	usual_policy(&policy, more);
	struct scene *s =
		quick_one(str_text(&policy), &(struct scene_pod){.name = "web-1", .image = VLLM});
	scene_use(s, "web-1", 20, 75366);
	scene_app(s, "web-1", app);
	quick_learn(s);
	scene_expect_reason(s, WEB, "MemoryPreallocated", "True", reason);
	scene_golden(s, WEB, name);
}

Test(scenario, state_of_a_framework_without_gauges)
{
	framework("", NULL, "NoAppMetrics", "memory-no-gauges");
}

Test(scenario, state_of_a_framework_whose_pool_has_no_bytes)
{
	framework("", POOL("None"), "PoolUnknown", "memory-pool-unknown");
}

Test(scenario, state_of_a_framework_whose_pool_is_fixed)
{
	framework("", POOL("61847529062"), "PoolPinned", "memory-pool-pinned");
}

Test(scenario, state_of_a_framework_whose_memory_the_policy_keeps)
{
	framework(",\"memory\":{\"preallocated\":\"KeepUsed\"}", NULL, "KeepUsed", "memory-kept");
}

static const char *sglang =
	"# TYPE sglang:token_usage gauge\nsglang:token_usage{model_name=\"m\"} 0.2\n"
	"sglang:max_total_num_tokens{model_name=\"m\"} 471258.0\n"
	"sglang:kv_cache_memory_usage_gb{model_name=\"m\"} 57.6\n"
	"sglang:weight_memory_usage_gb{model_name=\"m\"} 14.2\n";

static struct scene *with_gauges(int64_t minutes)
{
	struct scene *s = quick_one(QUICK("Automate", UPDATE("") ",\"selector\":{}"),
		&(struct scene_pod){.name = "web-1", .image = "lmsysorg/sglang:v0.5.17"});
	scene_use(s, "web-1", 20, 75366);
	scene_app(s, "web-1", sglang);
	scene_run(s, minutes);
	return s;
}

Test(scenario, state_of_a_framework_whose_pool_is_learnt)
{
	struct scene *s = with_gauges(HOUR / 2);
	scene_expect_reason(s, WEB, "MemoryPreallocated", "True", "PoolLearning");
	scene_golden(s, WEB, "memory-pool-learning");
}

Test(scenario, state_of_a_framework_that_is_sized_by_its_pool)
{
	struct scene *s = with_gauges(DAY + 2 * HOUR);
	scene_expect_reason(s, WEB, "MemoryPreallocated", "True", "AppMetrics");
	scene_golden(s, WEB, "memory-by-gauges");
}

/* It should have less than it took at its start. */
/* Within a share that it was told, which it may fill. */
Test(scenario, state_of_a_framework_that_goes_by_its_peak)
{
	struct scene *s = scene_new(
		QUICK("Automate", UPDATE("") ",\"memory\":{\"preallocated\":\"IgnoreAndShrink\"}"));
	scene_pod(s, &(struct scene_pod){.name = "web-1",
			     .notes = "\"aliquot.dev/framework-memory\":\"0.243\"",
			     .milli = 300,
			     .mib = 20480});
	scene_use(s, "web-1", 20, 19900);
	quick_learn(s);
	scene_expect_reason(s, WEB, "MemoryPreallocated", "True", "ToldItsShare");
	scene_golden(s, WEB, "memory-told");
}

Test(scenario, state_of_memory_that_stays)
{
	struct scene *s = with_gauges(DAY + 2 * HOUR);
	scene_pod_gone(s, "web-1");
	scene_pod(s, &(struct scene_pod){.name = "web-2",
			     .image = "lmsysorg/sglang:v0.5.17",
			     .milli = 300,
			     .mib = 60 * 1024});
	scene_use(s, "web-2", 20, 55 * 1024);
	scene_app(s, "web-2", sglang);
	scene_run(s, 5);
	scene_expect_reason(s, WEB, "Applied", "False", "MemoryStays");
	scene_golden(s, WEB, "memory-stays");
}

/* --- healing --- */

#define OOM "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"

static void deny(struct scene *s)
{
	scene_end(s, "web-2", 1, OOM);
	scene_steps(s, 6, 10000);
}

Test(scenario, state_of_a_cap_on_healing)
{
	struct scene *s = usual(",\"memory\":{\"max\":\"9Gi\"}");
	deny(s);
	scene_run(s, 2);
	scene_expect_reason(s, WEB, "Healing", "True", "MemoryPressure");
	scene_expect_reason(s, WEB, "Capped", "True", "PolicyMax");
	scene_golden(s, WEB, "healing-capped");
}

Test(scenario, state_of_a_gpu_that_was_not_enough)
{
	struct scene *s = usual("");
	for (int i = 0; i < 4; i++) {
		deny(s);
		scene_run(s, 19);
	}
	scene_expect_reason(s, WEB, "Healing", "True", "HealingExhausted");
	scene_golden(s, WEB, "healing-exhausted");
}

/* It stays within its share, and of the other one nobody tells anything. */
Test(scenario, state_of_an_unknown_neighbour)
{
	struct scene *s = usual("");
	scene_pod(s, &(struct scene_pod){
			     .name = "api-1", .owner = "api-1234abcd", .milli = 700, .mib = 8192});
	scene_run(s, 1);
	deny(s);
	scene_expect_reason(s, WEB, "Healing", "False", "NeighbourUnknown");
	scene_golden(s, WEB, "neighbour-unknown");
}

Test(scenario, state_of_who_wants_more_compute)
{
	struct scene *s =
		converted(QUICK("Automate", UPDATE("") ",\"compute\":{\"headroomPercent\":0}"), 28,
			7100, 300, 8192);
	scene_use(s, "web-2", 29, 7100);
	scene_run(s, 40);
	scene_expect_reason(s, WEB, "Healing", "True", "ComputePressure");
	scene_golden(s, WEB, "healing-compute");
}

Test(scenario, state_after_a_shrink_that_broke_it)
{
	struct scene *s = converted(QUICK("Automate", UPDATE("")), 31, 7100, 400, 8192);
	scene_use(s, "web-2", 15, 7100);
	(void)scene_until(s, "status.containers.main.target.computePercent", "20", 2 * DAY);
	scene_run(s, 1);
	for (int i = 0; i < 2; i++) {
		scene_end(s, "web-2", 1, "");
		scene_run(s, 2);
	}
	scene_expect_reason(s, WEB, "Paused", "True", "Rollback");
	scene_expect_reason(s, WEB, "ScaleDownBlocked", "True", "Rollback");
	scene_golden(s, WEB, "shrink-rolled-back");
}

/* The first share that it had; the whole GPU is the target again. */
Test(scenario, state_after_a_first_share_that_broke_it)
{
	struct scene *s = usual("");
	for (int i = 0; i < 2; i++) {
		scene_end(s, "web-2", 1, "");
		scene_run(s, 2);
	}
	scene_expect_reason(s, WEB, "Paused", "True", "Rollback");
	scene_expect(s, WEB, "status.containers.main.target.computePercent", "100");
	scene_golden(s, WEB, "first-share-undone");
}

Test(scenario, state_of_who_has_hungry_neighbours)
{
	struct scene *s = usual("");
	scene_pod(s, &(struct scene_pod){
			     .name = "api-1", .owner = "api-1234abcd", .milli = 700, .mib = 8192});
	scene_use(s, "api-1", 78, 4096);
	scene_use(s, "web-2", 21, 7100);
	scene_run(s, 20);
	scene_expect_reason(s, WEB, "Contention", "True", "Neighbours");
	scene_golden(s, WEB, "contention");
}

Test(scenario, state_of_a_leak)
{
	struct scene *s =
		converted(QUICK("Automate", UPDATE("") ",\"memory\":{\"headroomPercent\":0}"), 20,
			1700, 300, 2048);
	for (int mib = 1700; mib < 1700 + 9 * 1024; mib += 16) {
		scene_use(s, "web-2", 20, mib);
		scene_run(s, 1);
	}
	scene_expect_reason(s, WEB, "LeakSuspected", "True", "GrowsWithoutPlateau");
	scene_golden(s, WEB, "leak-suspected");
}
