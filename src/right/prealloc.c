/* Frameworks that take memory ahead of need. */
#include "right/prealloc.h"

#include "base/number.h"

#define SETTLED_AFTER_MS 300000
#define LEVEL_FOR_MS	 3600000
#define LEVEL_PERCENT	 1
#define TAKEN_PERCENT	 70
#define KV_PERCENTILE	 99
#define KV_HEADROOM	 25
#define FLOOR_MIB	 2048 /* of the pool, whatever is in use */

/* --- which class --- */

static void watch_update(struct prealloc_watch *w, const struct prealloc_look *look)
{
	int32_t used = (int32_t)smaller_of(look->used_mib, HISTORY_MIB_MAX);
	int64_t low = smaller_of(used, w->low_mib), high = larger_of(used, w->high_mib);
	bool level = (high - low) * 100 <= high * LEVEL_PERCENT;
	*w = w->since_ms == 0 || !level
		     ? (struct prealloc_watch){look->now_ms, used, used}
		     : (struct prealloc_watch){w->since_ms, (int32_t)low, (int32_t)high};
}

enum memory_class prealloc_classify(
	enum memory_class now, struct prealloc_watch *w, const struct prealloc_look *look)
{
	if (look->hinted || now != MEMORY_UNDECIDED) {
		return look->hinted ? MEMORY_PREALLOCATED : now;
	}
	bool settled = look->now_ms - look->started_ms >= SETTLED_AFTER_MS;
	if (!look->owns_device || !settled) {
		*w = (struct prealloc_watch){0};
		return now;
	}
	if (look->used_mib <= 0 || look->visible_mib <= 0) {
		return now;
	}
	watch_update(w, look);
	if (look->now_ms - w->since_ms < LEVEL_FOR_MS) {
		return now;
	}
	bool most = (int64_t)w->high_mib * 100 >= look->visible_mib * TAKEN_PERCENT;
	return most ? MEMORY_PREALLOCATED : MEMORY_GROWING;
}

/* --- what it needs --- */

/* One row a reason: the word that a condition says, and its message. */
static const struct {
	const char *name, *sentence;
} reasons[] = {
	[PREALLOC_BY_APP] = {"AppMetrics",
		"It takes memory ahead of need: its own gauges say how much of its pool it uses, "
		"and that is what it gets."},
	[PREALLOC_NO_METRICS] = {"NoAppMetrics",
		"It takes memory ahead of need, and no gauges of its own were read: what it uses "
		"is not what it needs, and it stays."},
	[PREALLOC_POOL_UNKNOWN] = {"PoolUnknown",
		"It takes memory ahead of need: its gauges say how full its pool is, but not how "
		"many bytes that has. That is learnt once another pod of the same template has "
		"run with a pool that is smaller or larger by a quarter, as a policy's "
		"memory.max gives it; until then its memory stays."},
	[PREALLOC_POOL_PINNED] = {"PoolPinned",
		"It takes memory ahead of need, and its own options say how large its pool is: "
		"its memory stays until they say less."},
	[PREALLOC_POOL_LEARNING] = {"PoolLearning",
		"It takes memory ahead of need: too little is known yet of how full its pool is, "
		"and until then its memory stays."},
	[PREALLOC_KEPT] = {"KeepUsed",
		"It takes memory ahead of need, and the policy keeps what it uses."},
	[PREALLOC_TOLD] = {"ToldItsShare",
		"Its framework was told its share and may fill it: the policy goes by the peak, "
		"but without headroom, and no share grows by it."},
};

const char *prealloc_by_name(enum prealloc_by by)
{
	return reasons[by].name;
}

const char *prealloc_sentence(enum prealloc_by by)
{
	return reasons[by].sentence;
}

/* On a whole device what it has taken; within a share that share, for what it has taken there is
 * what it was given. */
static int64_t kept_mib(const struct history *h, const struct prealloc_state *state, int64_t now_ms)
{
	int64_t used = history_used(h, now_ms);
	if (!state->owns_device && state->allocated_mib > 0) {
		return state->allocated_mib;
	}
	return larger_of(used < 0 ? history_peak(h, now_ms) : used, 0);
}

/* Why its gauges do not say what it needs; PREALLOC_BY_APP: they do. */
static enum prealloc_by pool_verdict(const struct sizing *s, const struct history_pool *pool)
{
	if (!pool->told) {
		return PREALLOC_NO_METRICS;
	}
	if (pool->fixed) {
		return PREALLOC_POOL_PINNED;
	}
	if (!pool->sized) {
		return PREALLOC_POOL_UNKNOWN;
	}
	bool enough = pool->use_mib >= 0 && pool->minutes * 60 >= s->required_s;
	return enough ? PREALLOC_BY_APP : PREALLOC_POOL_LEARNING;
}

/* With headroom on what it was told the next one would be told more, and fill that. */
static struct prealloc_need told_need(
	const struct history *h, const struct prealloc_state *state, int64_t now_ms)
{
	int64_t peak = history_peak(h, now_ms), told = state->told_mib;
	if (told <= 0 || peak < 0) {
		return (struct prealloc_need){PREALLOC_NOT, 0};
	}
	return (struct prealloc_need){PREALLOC_TOLD, smaller_of(peak, told)};
}

struct prealloc_need prealloc_need(const struct sizing *s, const struct history *h,
	const struct prealloc_state *state, int64_t now_ms)
{
	struct history_pool pool;
	int64_t kept = kept_mib(h, state, now_ms);
	if (state->memory_class != MEMORY_PREALLOCATED) {
		return (struct prealloc_need){PREALLOC_NOT, 0};
	}
	if (s->preallocated == PREALLOCATED_SHRINK) {
		return told_need(h, state, now_ms);
	}
	if (s->preallocated == PREALLOCATED_KEEP_USED) {
		return (struct prealloc_need){PREALLOC_KEPT, kept};
	}
	history_pool(h, KV_PERCENTILE, now_ms, &pool);
	enum prealloc_by by = pool_verdict(s, &pool);
	if (by != PREALLOC_BY_APP) {
		return (struct prealloc_need){by, kept};
	}
	/* All but the pool, and of the pool what it uses at its fullest with some room. Whoever is
	 * told only a part of its share for both gets a share of which they are that part. */
	int64_t part = (pool.use_mib * (100 + KV_HEADROOM) + 99) / 100;
	int64_t need = pool.rest_mib + larger_of(part, FLOOR_MIB);
	int32_t percent = state->part_percent;
	need = percent > 0 ? (need * 100 + percent - 1) / percent : need;
	return (struct prealloc_need){by, pool.starved ? larger_of(need, kept) : need};
}
