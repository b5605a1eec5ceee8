/* Frameworks that take memory ahead of need. The table at the end is what each can be told. */
#include "right/prealloc.h"

#include "base/alloc.h"
#include "base/str.h"

#define SETTLED_AFTER_MS   300000
#define LEVEL_FOR_MS	   3600000
#define LEVEL_PERCENT	   1
#define TAKEN_PERCENT	   70
#define KV_PERCENTILE	   99
#define KV_HEADROOM	   25
#define FLOOR_MIB	   2048 /* of the pool, whatever is in use */
#define SGLANG_STATIC_PART 85

/* --- which class --- */

static bool is_level(const struct prealloc_watch *w)
{
	return (w->high_mib - w->low_mib) * 100 <= w->high_mib * LEVEL_PERCENT;
}

static void follow(struct prealloc_watch *w, const struct prealloc_look *look)
{
	struct prealloc_watch next = *w;
	next.low_mib = look->used_mib < w->low_mib ? look->used_mib : w->low_mib;
	next.high_mib = look->used_mib > w->high_mib ? look->used_mib : w->high_mib;
	bool begins = w->since_ms == 0 || !is_level(&next);
	*w = begins ? (struct prealloc_watch){look->now_ms, look->used_mib, look->used_mib} : next;
}

enum memory_class prealloc_classify(
	enum memory_class now, struct prealloc_watch *w, const struct prealloc_look *look)
{
	if (now != MEMORY_UNDECIDED || look->hinted) {
		return now != MEMORY_UNDECIDED ? now : MEMORY_PREALLOCATED;
	}
	bool settled = look->now_ms - look->started_ms >= SETTLED_AFTER_MS;
	if (!look->owns_device || !settled) {
		*w = (struct prealloc_watch){0};
		return now;
	}
	if (look->used_mib <= 0 || look->visible_mib <= 0) {
		return now;
	}
	follow(w, look);
	if (look->now_ms - w->since_ms < LEVEL_FOR_MS) {
		return now;
	}
	bool most = w->high_mib * 100 >= look->visible_mib * TAKEN_PERCENT;
	return most ? MEMORY_PREALLOCATED : MEMORY_GROWING;
}

/* --- what it needs --- */

const char *prealloc_by_name(enum prealloc_by by)
{
	static const char *const names[] = {
		[PREALLOC_BY_APP] = "AppMetrics",
		[PREALLOC_NO_METRICS] = "NoAppMetrics",
		[PREALLOC_KEPT] = "KeepUsed",
	};
	return names[by];
}

/* On a whole device what it has taken; within a share that share, for what it has taken there is
 * what it was given. */
static int64_t kept_mib(const struct history *h, const struct prealloc_state *state, int64_t now_ms)
{
	int64_t used = history_used(h, now_ms);
	if (!state->owns_device && state->allocated_mib > 0) {
		return state->allocated_mib;
	}
	if (used < 0) {
		used = history_peak(h, now_ms);
	}
	return used > 0 ? used : 0;
}

/* All but the pool, and of the pool what it uses at its fullest with some room. */
static int64_t app_mib(int64_t used, int64_t pool, int32_t kv_percent)
{
	int64_t rest = used > pool ? used - pool : 0;
	int64_t part = (pool * kv_percent * (100 + KV_HEADROOM) + 9999) / 10000;
	return rest + (part > FLOOR_MIB ? part : FLOOR_MIB);
}

struct prealloc_need prealloc_need(const struct sizing *s, const struct history *h,
	const struct prealloc_state *state, int64_t now_ms)
{
	int32_t kv = history_kv(h, KV_PERCENTILE, now_ms);
	int64_t used = history_used(h, now_ms), kept = kept_mib(h, state, now_ms);
	if (state->memory_class != MEMORY_PREALLOCATED || s->preallocated == PREALLOCATED_SHRINK) {
		return (struct prealloc_need){PREALLOC_NOT, 0};
	}
	if (s->preallocated == PREALLOCATED_KEEP_USED) {
		return (struct prealloc_need){PREALLOC_KEPT, kept};
	}
	if (kv < 0 || used < 0 || state->kv_pool_mib <= 0) {
		return (struct prealloc_need){PREALLOC_NO_METRICS, kept};
	}
	int64_t need = app_mib(used, state->kv_pool_mib, kv);
	if (state->starved && need < kept) {
		need = kept;
	}
	return (struct prealloc_need){PREALLOC_BY_APP, need};
}

/* --- what it is told --- */

static const struct way {
	const char *framework;
	enum prealloc_tell tell;
	int32_t part_percent; /* of the share's memory that the fraction is about */
	const char *argument, *variable;
} ways[] = {
	{"vLLM", TELL_FRACTION, 100, "--gpu-memory-utilization", NULL},
	/* Its fraction is weights and pool; what it computes with comes on top. */
	{"SGLang", TELL_FRACTION, SGLANG_STATIC_PART, "--mem-fraction-static", NULL},
	{"JAX", TELL_FRACTION, 100, NULL, "XLA_PYTHON_CLIENT_MEM_FRACTION"},
	{"TensorRT-LLM", TELL_FREE, 100, "--kv_cache_free_gpu_mem_fraction", NULL},
	{"TensorFlow", TELL_GROWTH, 0, NULL, "TF_FORCE_GPU_ALLOW_GROWTH"},
};

static const struct way *way_of(const char *framework)
{
	for (size_t i = 0; i < COUNT_OF(ways); i++) {
		if (text_equals(ways[i].framework, framework)) {
			return &ways[i];
		}
	}
	return NULL;
}

/* The device may be all free when it asks: then what is free is the device less the weights. If
 * less is free it takes less. */
static int64_t thousandths_of(const struct way *w, const struct prealloc_slice *s)
{
	int64_t mib = s->share_mib - s->context_mib, of = s->device_mib;
	if (w->tell == TELL_FREE) {
		mib -= s->weights_mib;
		of -= s->weights_mib;
	}
	return mib > 0 && of > 0 ? mib * 10 * w->part_percent / of : 0;
}

struct prealloc_word prealloc_tell(const struct prealloc_slice *slice)
{
	const struct prealloc_word nothing = {.tell = TELL_NOTHING};
	const struct way *w = way_of(slice->framework);
	if (w == NULL || (w->tell == TELL_FREE && slice->weights_mib < 0)) {
		return nothing;
	}
	struct prealloc_word word = {w->tell, w->argument, w->variable, 0};
	if (w->tell == TELL_GROWTH) {
		return word;
	}
	int64_t thousandths = thousandths_of(w, slice);
	word.thousandths = (int32_t)(thousandths < 1000 ? thousandths : 1000);
	return word.thousandths > 0 ? word : nothing;
}
