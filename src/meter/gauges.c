/* One row a series. */
#include "gauges.h"

#include <stddef.h>

#include "base/cleanup.h"

/* In millionths, as figures come. */
#define COUNT_MAX ((int64_t)1000000000000 * FIGURE_ONE)

struct gauge_row {
	const char *name;
	const char *label, *value; /* only where this label is this; NULL: always */
	enum app_engine engine;
	size_t offset;
	bool pool; /* a part of one; else a number of requests */
};

#define KV	    offsetof(struct app_gauges, kv_used), true
#define WAITING	    offsetof(struct app_gauges, waiting), false
#define RUNNING	    offsetof(struct app_gauges, running), false
#define PREEMPTIONS offsetof(struct app_gauges, preemptions), false

static const struct gauge_row rows[] = {
	{"vllm:kv_cache_usage_perc", NULL, NULL, APP_VLLM, KV},
	{"vllm:gpu_cache_usage_perc", NULL, NULL, APP_VLLM, KV}, /* its name before 0.9 */
	{"vllm:num_requests_waiting", NULL, NULL, APP_VLLM, WAITING},
	{"vllm:num_requests_running", NULL, NULL, APP_VLLM, RUNNING},
	{"vllm:num_preemptions_total", NULL, NULL, APP_VLLM, PREEMPTIONS},
	{"sglang:token_usage", NULL, NULL, APP_SGLANG, KV},
	{"sglang:num_queue_reqs", NULL, NULL, APP_SGLANG, WAITING},
	{"sglang:num_running_reqs", NULL, NULL, APP_SGLANG, RUNNING},
	{"nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", "fraction", APP_TRITON, KV},
	{"nv_trt_llm_request_metrics", "request_type", "active", APP_TRITON, RUNNING},
	{"nv_inference_pending_request_count", NULL, NULL, APP_TRITON, WAITING},
};

static const struct gauge_row *row_of(const char *name, const struct series *s)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct gauge_row *r = &rows[i];
		if (strcmp(r->name, name) == 0 &&
			(r->label == NULL || text_equals(series_label(s, r->label), r->value))) {
			return r;
		}
	}
	return NULL;
}

static bool in_range(const struct gauge_row *r, struct figure value)
{
	int64_t most = r->pool ? METERED_GAUGE_FULL : COUNT_MAX;
	return figure_is_number(value) && value.micro >= 0 && value.micro <= most;
}

enum gauges_verdict gauges_take(
	struct app_gauges *g, const char *name, const struct series *s, struct figure value)
{
	const struct gauge_row *r = row_of(name, s);
	if (r == NULL) {
		return GAUGES_OTHER;
	}
	if (!in_range(r, value)) {
		return GAUGES_ODD;
	}
	int64_t *field = (int64_t *)(void *)((char *)g + r->offset);
	int64_t told = r->pool ? value.micro : value.micro / FIGURE_ONE;
	int64_t before = *field == METERED_ABSENT ? 0 : *field;
	bool fuller = told > before;
	*field = !r->pool ? before + told : fuller ? told : before;
	/* Triton with vLLM inside tells of both; the one that holds the pool counts. */
	g->engine = g->engine == APP_NONE || r->pool ? r->engine : g->engine;
	return GAUGES_TAKEN;
}

void gauges_write_names(struct str *out)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		str_append_text(out, i > 0 ? "|" : "");
		str_append_text(out, rows[i].name);
	}
}
