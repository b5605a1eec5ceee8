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
		take(&g, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "max", "1000"),
		GAUGES_OTHER);
	take(&g, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "fraction", "0.5");
	take(&g, "nv_trt_llm_request_metrics", "request_type", "active", "4");
	take(&g, "nv_inference_pending_request_count", "model", "m", "6");
	cr_expect(g.engine == APP_TRITON && g.kv_used == 500000 && g.waiting == 6);
	cr_expect_eq(g.running, 4);
	take(&g, "vllm:kv_cache_usage_perc", NULL, NULL, "0.6");
	cr_expect_eq(g.engine, APP_VLLM, "it holds the pool, Triton is round it");
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
}
