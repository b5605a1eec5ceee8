/* What a pod's application tells of its pool, beside what its process uses at that time. */
#include "tracking/pools.h"

#include "model/framework.h"
#include "tracking/tracking.h"

#define SETTLED_MS 300000 /* since it is Ready: its memory is what it took */
#define BESIDE_MS  30000  /* one figure of the other */

bool pools_told(const struct app_gauges *app)
{
	return app != NULL && app->kv_used != METERED_ABSENT;
}

static bool is_settled(const struct sized_pod *p, int64_t at_ms)
{
	return p->ready_ms > 0 && at_ms >= p->ready_ms + SETTLED_MS;
}

/* What its process uses, where that is of the same time and after its start; METERED_ABSENT. */
static int64_t process_memory_mib(const struct sized_pod *p, const struct app_gauges *app)
{
	const struct heal_feed *f = &p->feeds[0].heal;
	int64_t apart = f->at_ms > app->at_ms ? f->at_ms - app->at_ms : app->at_ms - f->at_ms;
	bool beside = f->mib > 0 && apart <= BESIDE_MS;
	return beside && is_settled(p, app->at_ms) && is_settled(p, f->at_ms) ? f->mib
									      : METERED_ABSENT;
}

/* A counter that is lower than it was began anew, with its process. */
static void look_at_preemptions(struct sized_feed *f, const struct app_gauges *app, int64_t now_ms)
{
	struct history *h = f->container->history;
	if (app->preemptions < 0 || history_kept(h)->memory_class != MEMORY_PREALLOCATED) {
		return;
	}
	if (f->memory.preemptions > 0 && app->preemptions >= f->memory.preemptions) {
		history_starved(h, now_ms);
	}
	f->memory.preemptions = app->preemptions + 1;
}

void pools_take(struct sized_pod *p, const struct sizer_use *use, int64_t now_ms)
{
	const struct app_gauges *app = use->app;
	if (!pools_told(app) || p->feed_count != 1 || !p->feeds[0].container->fitted) {
		return;
	}
	int64_t in_bytes = app->several ? METERED_ABSENT : app->pool_bytes;
	int64_t units = app->several ? METERED_ABSENT : app->pool_units;
	/* Pods of one owner and of one source: what they use can be compared. */
	uint64_t of[] = {p->set, app->print, (uint64_t)app->engine, (uint64_t)use->source,
		in_bytes != METERED_ABSENT};
	uint64_t hash = hash_bytes(of, sizeof of, 0);
	struct history_pool_sample sample = {
		.print = (uint32_t)(hash ^ hash >> 32),
		.engine = (uint8_t)app->engine,
		.alike = p->alike,
		.fixed = app->pool_fixed,
		.units = units != METERED_ABSENT ? units : in_bytes,
		.in_bytes = in_bytes,
		.used = app->kv_used,
		.mem_mib = process_memory_mib(p, app),
	};
	history_take_pool(p->feeds[0].container->history, &sample, now_ms);
	look_at_preemptions(&p->feeds[0], app, now_ms);
}

int32_t pools_part(const struct history *h, int64_t now_ms)
{
	static const char *const names[] = {
		[APP_VLLM] = "vLLM", [APP_SGLANG] = "SGLang", [APP_TRITON] = "TensorRT-LLM"};
	struct history_pool pool;
	history_pool(h, 99, now_ms, &pool);
	const char *name = pool.told && pool.engine < COUNT_OF(names) ? names[pool.engine] : NULL;
	const struct framework *f = name != NULL ? framework_find(name) : NULL;
	return f != NULL && f->part_percent > 0 ? f->part_percent : 100;
}
