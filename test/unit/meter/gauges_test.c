/* What serving frameworks tell, by the names that they have for it. */
#include "gauges.h"

#include <criterion/criterion.h>

static enum gauges_verdict take(struct app_gauges *g, const char *name, const char *label,
	const char *text, const char *value)
{
	struct series_label l = {label, text};
	struct series s = {name, &l, label != NULL ? 1 : 0};
	struct figure f = {0};
	cr_assert(figure_parse(view_of(value), &f));
	return gauges_take(g, name, &s, f);
}

Test(gauges, vllm)
{
	struct app_gauges g = app_gauges_none();
	cr_expect_eq(take(&g, "vllm:kv_cache_usage_perc", NULL, NULL, "0.25"), GAUGES_TAKEN);
	cr_expect_eq(take(&g, "vllm:num_requests_waiting", "model_name", "a", "3.0"), GAUGES_TAKEN);
	cr_expect_eq(take(&g, "vllm:num_requests_waiting", "model_name", "b", "4"), GAUGES_TAKEN);
	cr_expect_eq(take(&g, "vllm:num_preemptions_total", NULL, NULL, "1e+03"), GAUGES_TAKEN);
	cr_expect_eq(take(&g, "vllm:prompt_tokens_total", NULL, NULL, "5"), GAUGES_OTHER);
	cr_expect(g.engine == APP_VLLM && g.kv_used == 250000 && g.waiting == 7);
	cr_expect(g.preemptions == 1000 && g.running == METERED_ABSENT, "absent is absent");
	cr_expect_eq(take(&g, "vllm:gpu_cache_usage_perc", NULL, NULL, "0.1"), GAUGES_TAKEN);
	cr_expect_eq(g.kv_used, 250000, "the fullest pool counts");
}

Test(gauges, sglang_and_triton)
{
	struct app_gauges g = app_gauges_none();
	take(&g, "sglang:token_usage", NULL, NULL, "0");
	take(&g, "sglang:num_queue_reqs", NULL, NULL, "2");
	take(&g, "sglang:num_running_reqs", NULL, NULL, "1");
	cr_expect(g.engine == APP_SGLANG && g.kv_used == 0 && g.waiting == 2 && g.running == 1);
	g = app_gauges_none();
	cr_expect_eq(
		take(&g, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "free", "9"),
		GAUGES_OTHER);
	take(&g, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "max", "6239");
	cr_expect(g.pool_units == 6239 && g.pool_bytes == METERED_ABSENT);
	take(&g, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "fraction", "0.5");
	take(&g, "nv_trt_llm_request_metrics", "request_type", "active", "4");
	take(&g, "nv_inference_pending_request_count", "model", "m", "6");
	cr_expect(g.engine == APP_TRITON && g.kv_used == 500000 && g.waiting == 6);
	cr_expect_eq(g.running, 4);
	take(&g, "vllm:kv_cache_usage_perc", NULL, NULL, "0.6");
	cr_expect_eq(g.engine, APP_VLLM, "it holds the pool, Triton is round it");
}

/* vLLM 0.11: its CacheConfig, as labels. */
static enum gauges_verdict info(
	struct app_gauges *g, const char *blocks, const char *bytes, const char *dtype)
{
	struct series_label labels[] = {{"block_size", "16"}, {"cache_dtype", dtype},
		{"engine", "0"}, {"gpu_memory_utilization", "0.92"},
		{"kv_cache_memory_bytes", bytes}, {"num_gpu_blocks", blocks},
		{"num_gpu_blocks_override", "None"}};
	struct series s = {"vllm:cache_config_info", labels, COUNT_OF(labels)};
	struct figure one = {FIGURE_NUMBER, FIGURE_ONE};
	return gauges_take(g, s.name, &s, one);
}

Test(gauges, a_pool_in_blocks)
{
	struct app_gauges g = app_gauges_none(), other = app_gauges_none();
	cr_expect_eq(info(&g, "29491", "None", "auto"), GAUGES_TAKEN);
	cr_expect(g.engine == APP_VLLM && g.pool_units == 29491);
	cr_expect(g.pool_bytes == METERED_ABSENT && !g.pool_fixed && !g.several);
	cr_expect_eq(g.kv_used, METERED_ABSENT, "of its use that says nothing");
	info(&other, "12000", "None", "auto");
	cr_expect_eq(g.print, other.print, "another size is the same pool");
	other = app_gauges_none();
	info(&other, "29491", "None", "fp8");
	cr_expect_neq(g.print, other.print, "another kind of blocks is not");
	take(&other, "vllm:kv_cache_usage_perc", "model_name", "m", "0.2");
	uint32_t print = other.print;
	other = app_gauges_none();
	take(&other, "vllm:kv_cache_usage_perc", "model_name", "m", "0.2");
	info(&other, "29491", "None", "fp8");
	cr_expect_eq(print, other.print, "in whatever order");
}

/* Before it was profiled; and what is no count. */
Test(gauges, a_pool_that_is_not_known)
{
	static const char *const texts[] = {"None", "0", "-1", "1e5", "", "99999999999999999999"};
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct app_gauges g = app_gauges_none();
		info(&g, texts[i], texts[i], "auto");
		cr_expect(g.pool_units == METERED_ABSENT && !g.pool_fixed, "%s", texts[i]);
	}
}

Test(gauges, a_pool_that_somebody_fixed)
{
	struct app_gauges g = app_gauges_none();
	info(&g, "29491", "61847529062", "auto");
	cr_expect(g.pool_fixed && g.pool_units == 29491);
}

/* Two engines, or two ranks: whose memory is whose nobody knows. */
Test(gauges, of_several_pools_none_is_known)
{
	struct app_gauges g = app_gauges_none();
	info(&g, "29491", "None", "auto");
	info(&g, "29491", "None", "auto");
	cr_expect(g.several);
	g = app_gauges_none();
	take(&g, "sglang:max_total_num_tokens", "tp_rank", "0", "471258");
	cr_expect(!g.several);
	take(&g, "sglang:max_total_num_tokens", "tp_rank", "1", "471258");
	cr_expect(g.several);
}

/* SGLang 0.5: in GiB, whatever it calls them; 0 where it does not know. */
Test(gauges, a_pool_in_bytes)
{
	struct app_gauges g = app_gauges_none();
	take(&g, "sglang:max_total_num_tokens", NULL, NULL, "471258.0");
	take(&g, "sglang:kv_cache_memory_usage_gb", NULL, NULL, "57.6");
	take(&g, "sglang:num_retracted_requests_total", NULL, NULL, "48.0");
	cr_expect(g.pool_units == 471258 && g.preemptions == 48);
	cr_expect_eq(g.pool_bytes, 61847529062, "%lld", (long long)g.pool_bytes);
	g = app_gauges_none();
	cr_expect_eq(take(&g, "sglang:kv_cache_memory_usage_gb", NULL, NULL, "0"), GAUGES_TAKEN);
	cr_expect_eq(g.pool_bytes, METERED_ABSENT);
	cr_expect_eq(take(&g, "sglang:kv_cache_memory_usage_gb", NULL, NULL, "16385"), GAUGES_ODD);
	cr_expect_eq(
		take(&g, "sglang:kv_cache_memory_usage_gb", NULL, NULL, "16384"), GAUGES_TAKEN);
	cr_expect_eq(g.pool_bytes, METERED_MEMORY_MAX);
}

Test(gauges, odd_ones_are_nothing)
{
	static const char *const values[] = {"NaN", "-1", "+Inf", "1e30", "1.5"};
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct app_gauges g = app_gauges_none();
		cr_expect_eq(take(&g, "vllm:kv_cache_usage_perc", NULL, NULL, values[i]),
			GAUGES_ODD, "%s", values[i]);
		cr_expect(g.kv_used == METERED_ABSENT && g.engine == APP_NONE);
	}
	struct app_gauges g = app_gauges_none();
	cr_expect_eq(take(&g, "vllm:num_requests_waiting", NULL, NULL, "2e12"), GAUGES_ODD);
}

Test(gauges, their_names_are_written)
{
	CLEANUP(str_finish) struct str out = STR_INIT(4096);
	gauges_write_names(&out);
	cr_expect(strstr(str_text(&out), "vllm:kv_cache_usage_perc|vllm:gpu") != NULL);
	cr_expect_neq(out.p[out.len - 1], '|');
	cr_expect_not_null(strstr(str_text(&out), "vllm:cache_config_info|"));
	cr_expect_null(strstr(str_text(&out), "||"));
	const char *blocks = strstr(str_text(&out), "nv_trt_llm_kv_cache_block_metrics");
	cr_assert_not_null(blocks);
	cr_expect_null(strstr(blocks + 1, "nv_trt_llm_kv_cache_block_metrics"), "once");
}
