/* One row a series. */
#include "gauges.h"

#include <stddef.h>

#include "base/map.h"

/* In millionths, as figures come. */
#define COUNT_MAX ((int64_t)1000000000000 * FIGURE_ONE)
#define GIB_MAX	  ((METERED_MEMORY_MAX >> 30) * FIGURE_ONE)
#define GIB	  ((int64_t)1 << 30)

enum gauge_kind {
	GAUGE_PART,  /* of a pool */
	GAUGE_COUNT, /* of requests: those of several models are added */
	GAUGE_UNITS, /* blocks or tokens that the pool has */
	GAUGE_GIB,   /* the same in GiB; 0: it does not know */
	GAUGE_INFO,  /* its labels say it */
};

struct gauge_row {
	const char *name;
	const char *label, *value; /* only where this label is this; NULL: always */
	enum app_engine engine;
	size_t offset;
	enum gauge_kind kind;
};

#define KV	    offsetof(struct app_gauges, kv_used), GAUGE_PART
#define WAITING	    offsetof(struct app_gauges, waiting), GAUGE_COUNT
#define RUNNING	    offsetof(struct app_gauges, running), GAUGE_COUNT
#define PREEMPTIONS offsetof(struct app_gauges, preemptions), GAUGE_COUNT
#define UNITS	    offsetof(struct app_gauges, pool_units), GAUGE_UNITS
#define POOL_GIB    offsetof(struct app_gauges, pool_bytes), GAUGE_GIB
#define INFO	    offsetof(struct app_gauges, pool_units), GAUGE_INFO
#define TRT_BLOCKS  "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type"

static const struct gauge_row rows[] = {
	{"vllm:kv_cache_usage_perc", NULL, NULL, APP_VLLM, KV},
	{"vllm:gpu_cache_usage_perc", NULL, NULL, APP_VLLM, KV}, /* its name before 0.9 */
	{"vllm:num_requests_waiting", NULL, NULL, APP_VLLM, WAITING},
	{"vllm:num_requests_running", NULL, NULL, APP_VLLM, RUNNING},
	{"vllm:num_preemptions_total", NULL, NULL, APP_VLLM, PREEMPTIONS},
	{"vllm:cache_config_info", NULL, NULL, APP_VLLM, INFO},
	{"sglang:token_usage", NULL, NULL, APP_SGLANG, KV},
	{"sglang:num_queue_reqs", NULL, NULL, APP_SGLANG, WAITING},
	{"sglang:num_running_reqs", NULL, NULL, APP_SGLANG, RUNNING},
	{"sglang:num_retracted_requests_total", NULL, NULL, APP_SGLANG, PREEMPTIONS},
	{"sglang:max_total_num_tokens", NULL, NULL, APP_SGLANG, UNITS},
	{"sglang:kv_cache_memory_usage_gb", NULL, NULL, APP_SGLANG, POOL_GIB},
	{TRT_BLOCKS, "fraction", APP_TRITON, KV},
	{TRT_BLOCKS, "max", APP_TRITON, UNITS},
	{"nv_trt_llm_request_metrics", "request_type", "active", APP_TRITON, RUNNING},
	{"nv_inference_pending_request_count", NULL, NULL, APP_TRITON, WAITING},
};

static const struct gauge_row *gauge_row_find(const char *name, const struct series *s)
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
	static const int64_t most[] = {[GAUGE_PART] = METERED_GAUGE_FULL,
		[GAUGE_COUNT] = COUNT_MAX,
		[GAUGE_UNITS] = COUNT_MAX,
		[GAUGE_GIB] = GIB_MAX,
		[GAUGE_INFO] = COUNT_MAX};
	return figure_is_number(value) && value.micro >= 0 && value.micro <= most[r->kind];
}

/* In any order: labels are added up. */
static void add_print(struct app_gauges *g, const struct series *s, const char *label)
{
	const char *value = series_label(s, label);
	if (value != NULL) {
		g->print += (uint32_t)hash_pair(label, value);
	}
}

/* False: it is "None", or no count at all. */
static bool label_count(const struct series *s, const char *label, int64_t *ret)
{
	const char *value = series_label(s, label);
	return value != NULL && parse_i64(view_of(value), 1, COUNT_MAX / FIGURE_ONE, ret);
}

/* Of a second one nobody knows whose memory is whose. */
static void take_pool(struct app_gauges *g, int64_t *field, int64_t told)
{
	if (told > 0) {
		g->several = g->several || *field != METERED_ABSENT;
		*field = told;
	}
}

/* vLLM writes its CacheConfig as labels, what is not set as "None". */
static void take_info(struct app_gauges *g, const struct series *s)
{
	static const char *const same[] = {"block_size", "cache_dtype", "mamba_block_size"};
	int64_t blocks = 0, fixed = 0;
	if (label_count(s, "num_gpu_blocks", &blocks)) {
		take_pool(g, &g->pool_units, blocks);
	}
	g->pool_fixed = g->pool_fixed || label_count(s, "kv_cache_memory_bytes", &fixed) ||
			label_count(s, "num_gpu_blocks_override", &fixed);
	for (size_t i = 0; i < COUNT_OF(same); i++) {
		add_print(g, s, same[i]);
	}
}

static void take_value(
	struct app_gauges *g, const struct gauge_row *r, const struct series *s, int64_t micro)
{
	int64_t *field = (int64_t *)(void *)((char *)g + r->offset);
	int64_t before = *field == METERED_ABSENT ? 0 : *field;
	switch (r->kind) {
	case GAUGE_PART:
		*field = micro > before ? micro : before;
		add_print(g, s, "model_name");
		add_print(g, s, "model");
		break;
	case GAUGE_COUNT:
		*field = before + micro / FIGURE_ONE;
		break;
	case GAUGE_UNITS:
		take_pool(g, field, micro / FIGURE_ONE);
		break;
	case GAUGE_GIB:
		take_pool(
			g, field, micro / FIGURE_ONE * GIB + micro % FIGURE_ONE * GIB / FIGURE_ONE);
		break;
	case GAUGE_INFO:
		take_info(g, s);
		break;
	}
}

enum gauges_verdict gauges_take(
	struct app_gauges *g, const char *name, const struct series *s, struct figure value)
{
	const struct gauge_row *r = gauge_row_find(name, s);
	if (r == NULL) {
		return GAUGES_OTHER;
	}
	if (!in_range(r, value)) {
		return GAUGES_ODD;
	}
	take_value(g, r, s, value.micro);
	/* Triton with vLLM inside tells of both; the one that holds the pool counts. */
	g->engine = g->engine == APP_NONE || r->kind == GAUGE_PART ? r->engine : g->engine;
	return GAUGES_TAKEN;
}

void gauges_write_names(struct str *out)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		bool again = i > 0 && strcmp(rows[i].name, rows[i - 1].name) == 0;
		str_append_text(out, i > 0 && !again ? "|" : "");
		str_append_text(out, again ? "" : rows[i].name);
	}
}
