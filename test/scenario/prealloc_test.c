/* P: frameworks that take memory ahead of need. */
#include "scene.h"

#define HOUR  60
#define DAY   (24 * HOUR)
#define CLASS "MemoryPreallocated"
#define VLLM  "vllm/vllm-openai:v0.11.0"

static struct scene *flat(const char *image, int mib)
{
	struct scene *s = scene_new(RT);
	scene_pod(s, &(struct scene_pod){.name = "web-1", .image = image});
	scene_use(s, "web-1", 20, mib);
	return s;
}

/* 73.6 of 80 GiB. */
Test(scenario, P1_flat_and_full_without_metrics_keeps_its_memory)
{
	struct scene *s = flat(VLLM, 75366);
	scene_run(s, 2);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_run(s, 2 * HOUR);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_run(s, DAY);
	scene_expect_target(s, "30", "75520Mi");
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_free(s);
}

/* A tenant too, in which use would never tell; and what is no such image is none for its name alone
 * until its use says so. */
Test(scenario, P1_the_image_tells_it_at_once)
{
	struct scene *s = scene_new(RT);
	scene_pod(
		s, &(struct scene_pod){.name = "web-1", .image = VLLM, .milli = 300, .mib = 20480});
	scene_use(s, "web-1", 20, 18000);
	scene_run(s, 2);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_free(s);
	s = flat("registry/jax:1", 60 * 1024);
	scene_run(s, HOUR / 2);
	cr_expect_null(scene_text(s, WEB, "status.conditions." CLASS));
	scene_free(s);
}

/* --- a pool that its own gauges tell of --- */

/* As vLLM 0.11 writes it: of its CacheConfig the labels that say something of the pool. */
static const char *vllm(int blocks, const char *bytes, const char *used, int preemptions)
{
	static char text[1024];
	snprintf(text, sizeof text,
		"# HELP vllm:cache_config_info Information of the LLMEngine CacheConfig\n"
		"# TYPE vllm:cache_config_info gauge\n"
		"vllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",engine=\"0\","
		"gpu_memory_utilization=\"0.92\",kv_cache_memory_bytes=\"%s\","
		"num_gpu_blocks=\"%d\",num_gpu_blocks_override=\"None\"} 1.0\n"
		"# TYPE vllm:kv_cache_usage_perc gauge\n"
		"vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} %s\n"
		"# TYPE vllm:num_preemptions_total counter\n"
		"vllm:num_preemptions_total{engine=\"0\",model_name=\"m\"} %d.0\n",
		bytes, blocks, used, preemptions);
	return text;
}

/* As SGLang 0.5.17 does. */
#define SGLANG_LABELS "{engine_type=\"unified\",model_name=\"m\",tp_rank=\"0\"} "
static const char *sglang(const char *used, int retracted)
{
	static char text[1024];
	snprintf(text, sizeof text,
		"# TYPE sglang:token_usage gauge\n"
		"sglang:token_usage" SGLANG_LABELS "%s\n"
		"sglang:max_total_num_tokens" SGLANG_LABELS "471258.0\n"
		"sglang:kv_cache_memory_usage_gb" SGLANG_LABELS "57.6\n"
		"sglang:weight_memory_usage_gb" SGLANG_LABELS "14.2\n"
		"# TYPE sglang:num_retracted_requests_total counter\n"
		"sglang:num_retracted_requests_total" SGLANG_LABELS "%d.0\n",
		used, retracted);
	return text;
}

#define BLOCKS 29491 /* of 2 MiB: 57.6 GiB */
#define TAKEN  (16384 + 2 * BLOCKS)
#define FEWER  12000 /* that it has with a share of 40 GiB */
#define MEMORY "status.containers.main.target.memory"

/* A day on a whole GPU, then as much with 40 GiB, of which a fifth of the former pool is used. */
static struct scene *with_another_share(void)
{
	struct scene *s = flat(VLLM, TAKEN);
	scene_app(s, "web-1", vllm(BLOCKS, "None", "0.2", 0));
	scene_run(s, DAY + HOUR);
	scene_expect_target(s, "30", "75520Mi");
	scene_expect_reason(s, WEB, CLASS, "True", "PoolUnknown");
	scene_pod_gone(s, "web-1");
	scene_run(s, 1);
	scene_pod(
		s, &(struct scene_pod){.name = "web-2", .image = VLLM, .milli = 300, .mib = 40960});
	scene_use(s, "web-2", 20, 16384 + 2 * FEWER);
	scene_app(s, "web-2", vllm(FEWER, "None", "0.49", 0));
	scene_run(s, 20);
	scene_expect_reason(s, WEB, CLASS, "True", "PoolUnknown");
	return s;
}

Test(scenario, P2_vllm_is_sized_by_its_pool_once_two_shares_were_seen)
{
	struct scene *s = with_another_share();
	scene_run(s, HOUR);
	scene_expect_reason(s, WEB, CLASS, "True", "AppMetrics");
	scene_restart(s);
	scene_run(s, 10);
	scene_expect_reason(s, WEB, CLASS, "True", "AppMetrics");
	/* A day after it was known, and one after the share that it had was what it kept. */
	int64_t minutes = scene_until(s, MEMORY, "31232Mi", 2 * DAY); /* 30.5 GiB */
	cr_expect_geq(minutes, DAY - HOUR);
	scene_expect_target(s, "30", "31232Mi");
	scene_free(s);
}

/* Its share is told as 85 % of that, for weights and pool. */
Test(scenario, P2_sglang_tells_its_pool_in_bytes)
{
	struct scene *s = flat("lmsysorg/sglang:v0.5.17", TAKEN);
	scene_app(s, "web-1", sglang("0.2", 0));
	scene_run(s, 2 * HOUR);
	scene_expect_reason(s, WEB, CLASS, "True", "PoolLearning");
	scene_run(s, DAY);
	scene_expect_reason(s, WEB, CLASS, "True", "AppMetrics");
	scene_expect_target(s, "30", "36Gi");
	scene_free(s);
}

Test(scenario, P2_a_pool_that_somebody_fixed_stays)
{
	struct scene *s = flat(VLLM, TAKEN);
	scene_app(s, "web-1", vllm(BLOCKS, "61847529062", "0.2", 0));
	scene_run(s, DAY + HOUR);
	scene_expect_reason(s, WEB, CLASS, "True", "PoolPinned");
	scene_expect_target(s, "30", "75520Mi");
	scene_free(s);
}

Test(scenario, P3_a_full_pool_does_not_shrink)
{
	struct scene *s = flat("lmsysorg/sglang:v0.5.17", TAKEN);
	for (int i = 0; i < 26; i++) {
		scene_app(s, "web-1", sglang("0.95", i));
		scene_run(s, HOUR);
	}
	scene_expect_reason(s, WEB, CLASS, "True", "AppMetrics");
	scene_expect_target(s, "30", "79360Mi"); /* all that a GPU with 80 GiB can give */
	scene_expect_reason(s, WEB, "Capped", "True", "Device");
	scene_free(s);
}

/* While requests are preempted nothing is taken from it, and where its pool is full it gets more.
 */
Test(scenario, P3_one_that_preempts_keeps_its_share_and_may_grow)
{
	struct scene *s = with_another_share();
	for (int i = 0; i < 26; i++) {
		scene_app(s, "web-2", vllm(FEWER, "None", "0.49", i));
		scene_run(s, HOUR);
	}
	scene_expect_reason(s, WEB, CLASS, "True", "AppMetrics");
	scene_expect(s, WEB, MEMORY, "40Gi");
	scene_app(s, "web-2", vllm(FEWER, "None", "0.95", 30));
	scene_run(s, 2 * HOUR);
	scene_expect(s, WEB, MEMORY, "45312Mi"); /* 16 GiB, and 22.6 GiB and a quarter */
	scene_free(s);
}

/* JAX takes three quarters at its start. */
Test(scenario, P6_flat_at_three_quarters_is_preallocated)
{
	struct scene *s = flat("registry/jax:1", 60 * 1024);
	scene_run(s, 2 * HOUR);
	scene_expect_reason(s, WEB, CLASS, "True", "NoAppMetrics");
	scene_run(s, DAY);
	scene_expect_target(s, "30", "60Gi");
	scene_free(s);
}

Test(scenario, P6_what_grew_and_stays_is_growing)
{
	struct scene *s = flat("registry/torch:1", 4 * 1024);
	for (int mib = 4 * 1024; mib < 9 * 1024; mib += 64) {
		scene_use(s, "web-1", 20, mib);
		scene_run(s, 1);
	}
	scene_use(s, "web-1", 20, 9 * 1024);
	scene_run(s, DAY);
	cr_expect_null(scene_text(s, WEB, "status.conditions." CLASS));
	scene_expect_target(s, "30", "10752Mi");
	scene_pod_gone(s, "web-1");
	scene_run(s, 1);
	scene_pod(s, &(struct scene_pod){.name = "web-2", .milli = 300, .mib = 10752});
	scene_use(s, "web-2", 20, 9 * 1024);
	scene_run(s, DAY);
	cr_expect_null(scene_text(s, WEB, "status.conditions." CLASS), "the class stays");
	scene_expect_target(s, "30", "10752Mi");
	scene_free(s);
}

/* Whoever was told how much to take has taken that, whatever its image says: else each share would
 * be what the last one was told and a headroom, and each of them another pod. */
Test(scenario, P1_what_it_was_told_to_take_is_not_what_it_needs)
{
	struct scene *s = scene_new(
		RT_WITH(",\"history\":{\"windowSeconds\":172800,\"requiredSeconds\":3600,"
			"\"halfLifeSeconds\":3600},\"update\":{\"scaleDownDelaySeconds\":3600}"));
	scene_pod(s, &(struct scene_pod){.name = "web-1",
			     .notes = "\"aliquot.dev/framework-memory\":\"0.243\"",
			     .milli = 300,
			     .mib = 20480});
	scene_use(s, "web-1", 20, 19900);
	scene_run(s, 3 * 60);
	scene_expect_target(s, "30", "20Gi");
	scene_expect_reason(s, WEB, "MemoryPreallocated", "True", "NoAppMetrics");
	scene_free(s);
}
