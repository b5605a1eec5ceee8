/* One pool: what is told of it, and what follows. Whatever is not known for certain is taken so
 * that less of the process is pool. */
#include "history/pool.h"

#include <stdlib.h>

#include "base/number.h"
#include "pool_parts.h"
#include "record/record_table.h"
#include "track.h"

#define MIB	      ((int64_t)1 << 20)
#define FORMER_MS     600000 /* after which another print takes its place */
#define SEEN_MINUTES  30     /* each of two sizes, before they say what a unit takes */
#define APART_PERCENT 25     /* of the larger: what was not seen weighs four times at most */
#define GONE_PERCENT  10

struct pool *pool_create(uint32_t half_life_s, uint32_t window_s)
{
	struct pool *p = xcalloc(1, sizeof *p);
	levels_init(&p->use, half_life_s, window_s);
	return p;
}

void pool_destroy(struct pool *p)
{
	if (p != NULL) {
		levels_finish(&p->use);
		free(p);
	}
}

size_t pool_bytes(const struct pool *p)
{
	return sizeof *p + levels_bytes(&p->use);
}

static void pool_restart(struct pool *p, uint32_t print)
{
	uint32_t half_life_s = p->use.half_life_s, window_s = p->use.window_s;
	levels_finish(&p->use);
	*p = (struct pool){.print = print};
	levels_init(&p->use, half_life_s, window_s);
}

/* --- its use --- */

/* What is part of one pool, as part of the largest there was. The product is 1e6 * 2^44. */
static void pool_take_use(struct pool *p, const struct history_pool_sample *s, int64_t now_ms)
{
	int32_t minute = (int32_t)(now_ms / MINUTE_MS);
	uint64_t used = (uint64_t)smaller_of(s->used, METERED_GAUGE_FULL), full = (uint64_t)p->full;
	int64_t part = (int64_t)((used * (uint64_t)s->units + full - 1) / full);
	int64_t level = larger_of(part - 1, 0) / (METERED_GAUGE_FULL / LEVELS);
	levels_add(&p->use, (uint32_t)smaller_of(level, LEVELS - 1), now_ms);
	p->minutes += minute != p->minute && p->minutes < INT32_MAX;
	p->minute = minute;
}

/* --- its sizes --- */

/* A third one takes the place of the one that is like it the most, so that two stay that are far
 * apart, but not while that one is told. NULL: it is. */
static struct pool_size *size_of(struct pool *p, int64_t units, int32_t minute)
{
	struct pool_size *like = NULL;
	for (uint32_t i = 0; i < POOL_SIZES; i++) {
		struct pool_size *size = &p->sizes[i];
		if (size->units == units || size->units == 0) {
			size->units = units;
			return size;
		}
		bool nearer =
			like == NULL || llabs(size->units - units) < llabs(like->units - units);
		like = nearer ? size : like;
	}
	if (minute - like->minute <= FORMER_MS / MINUTE_MS) {
		return NULL;
	}
	*like = (struct pool_size){.units = units};
	return like;
}

/* The most that was seen of any size is its least and the slack, or less. A pool is not given back
 * while its process serves: one that has much less is on its way out, or sleeps. */
static void pool_take_memory(struct pool *p, const struct history_pool_sample *s, int64_t now_ms)
{
	int32_t minute = (int32_t)(now_ms / MINUTE_MS);
	int32_t mib = (int32_t)smaller_of(s->mem_mib, HISTORY_MIB_MAX);
	struct pool_size *size = size_of(p, s->units, minute);
	int64_t slack = p->slack_mib;
	if (size == NULL ||
		(size->minutes > 0 &&
			mib * INT64_C(100) < size->low_mib * (INT64_C(100) - GONE_PERCENT))) {
		return;
	}
	/* The first one may have been looked at as it slept or while it loaded. */
	bool early = size->minutes < SEEN_MINUTES &&
		     size->low_mib * INT64_C(100) < mib * (INT64_C(100) - GONE_PERCENT);
	if (size->minutes == 0 || early) {
		size->low_mib = mib;
		size->minutes = 0;
	} else if (mib < size->low_mib) {
		slack += size->low_mib - mib;
		size->low_mib = mib;
	} else if (mib - size->low_mib > slack) {
		slack = mib - size->low_mib;
	}
	p->slack_mib = (int32_t)smaller_of(slack, HISTORY_MIB_MAX);
	size->minutes += minute != size->minute && size->minutes < INT32_MAX;
	size->minute = minute;
}

/* The least that a unit can take: what was seen to vary is taken off twice, as much again for what
 * was not seen. It is learnt once more each time, and only becomes less. */
static void learn_bytes_per_unit(struct pool *p)
{
	bool second = p->sizes[1].units > p->sizes[0].units;
	const struct pool_size *large = &p->sizes[second], *small = &p->sizes[!second];
	int64_t units = large->units - small->units;
	int64_t mib = (int64_t)large->low_mib - small->low_mib - 2 * (int64_t)p->slack_mib;
	if (small->units == 0 || large->minutes < SEEN_MINUTES || small->minutes < SEEN_MINUTES ||
		units < (large->units * APART_PERCENT + 99) / 100 || mib <= 0) {
		return;
	}
	int64_t unit = mib * MIB / units;
	p->unit = p->unit == 0 ? unit : smaller_of(p->unit, unit);
}

void pool_take(struct pool *p, const struct history_pool_sample *s, int64_t now_ms)
{
	bool former = p->last_ms > 0 && p->print != s->print;
	if (former && now_ms - p->last_ms < FORMER_MS) {
		return;
	}
	if (former || p->last_ms == 0) {
		pool_restart(p, s->print);
	}
	p->last_ms = now_ms;
	p->engine = s->engine;
	p->fixed = s->fixed;
	if (s->units <= 0 || s->units > HISTORY_POOL_UNITS_MAX) {
		return;
	}
	if (p->full > 0 && p->full < s->units) {
		levels_shrink(&p->use, p->full, s->units);
	}
	p->full = larger_of(p->full, s->units);
	if (s->used >= 0) {
		pool_take_use(p, s, now_ms);
	}
	if (s->mem_mib <= 0) {
		return;
	}
	pool_take_memory(p, s, now_ms);
	if (s->in_bytes > 0) {
		p->told_bytes = true;
		p->unit = s->in_bytes / s->units;
	} else if (s->alike && !p->told_bytes) {
		learn_bytes_per_unit(p);
	}
}

/* --- in the history --- */

void history_take_pool(struct history *h, const struct history_pool_sample *s, int64_t now_ms)
{
	if (now_ms <= EARLIEST_MS) {
		return;
	}
	if (h->pool == NULL) {
		h->pool = pool_create(h->half_life_s, h->window_s);
	}
	pool_take(h->pool, s, now_ms);
}

void history_starved(struct history *h, int64_t now_ms)
{
	if (h->pool != NULL) {
		h->pool->starved_ms = now_ms;
	}
}

static int64_t units_to_bytes(int64_t units, int64_t unit)
{
	return unit > 0 && units > METERED_MEMORY_MAX / unit ? METERED_MEMORY_MAX : units * unit;
}

/* -1: what is told to be pool is more than all that is used. */
static int64_t memory_beside_pool(const struct pool *p)
{
	int64_t most = -1;
	for (uint32_t i = 0; i < POOL_SIZES && p->unit > 0; i++) {
		const struct pool_size *size = &p->sizes[i];
		int64_t rest = size->low_mib - units_to_bytes(size->units, p->unit) / MIB;
		if (size->units == 0) {
			continue;
		}
		if (rest <= 0) {
			return -1;
		}
		most = larger_of(most, rest);
	}
	return most < 0 ? -1 : most + p->slack_mib;
}

void history_pool(
	const struct history *h, int32_t percentile, int64_t now_ms, struct history_pool *ret)
{
	const struct pool *p = h->pool;
	int64_t window_ms = (int64_t)h->window_s * 1000;
	*ret = (struct history_pool){.use_mib = -1, .rest_mib = -1};
	if (p == NULL || now_ms - p->last_ms > window_ms) {
		return;
	}
	ret->told = true;
	ret->fixed = p->fixed;
	ret->starved = p->starved_ms > 0 && now_ms - p->starved_ms <= window_ms;
	ret->engine = p->engine;
	ret->counted = p->full > 0;
	ret->minutes = p->minutes;
	int32_t level = levels_percentile(&p->use, percentile, now_ms);
	if (level >= 0 && p->unit != 0) {
		int64_t bytes = units_to_bytes(p->full, p->unit) * (level + 1) / LEVELS;
		ret->use_mib = (bytes + MIB - 1) / MIB;
	}
	ret->rest_mib = memory_beside_pool(p);
	ret->sized = ret->rest_mib > 0;
}

/* --- as bytes --- */

static const struct record_row size_rows[] = {
	UPTO(struct pool_size, units, HISTORY_POOL_UNITS_MAX),
	UPTO(struct pool_size, low_mib, HISTORY_MIB_MAX),
	UPTO(struct pool_size, minutes, INT32_MAX),
	UPTO(struct pool_size, minute, INT32_MAX),
};
static const struct record_table size_table = RECORD_TABLE(struct pool_size, size_rows);

static const struct record_row pool_rows[] = {
	MEMBER(struct pool, print),
	MEMBER(struct pool, engine),
	ROW_OF(struct pool, fixed, ROW_NUMBER, .most = 1),	/* a number of its own, as */
	ROW_OF(struct pool, told_bytes, ROW_NUMBER, .most = 1), /* this */
	UPTO(struct pool, full, HISTORY_POOL_UNITS_MAX),
	UPTO(struct pool, unit, POOL_UNIT_MAX),
	UPTO(struct pool, last_ms, LEVELS_TIME_MAX),
	UPTO(struct pool, starved_ms, LEVELS_TIME_MAX),
	UPTO(struct pool, slack_mib, HISTORY_MIB_MAX),
	UPTO(struct pool, minutes, INT32_MAX),
	UPTO(struct pool, minute, INT32_MAX),
	ARRAY(struct pool, sizes, size_table),
};
static const struct record_table pool_table = RECORD_TABLE(struct pool, pool_rows);

void pool_pack(const struct pool *p, struct str *out)
{
	record_pack(out, &pool_table, p);
	levels_pack(&p->use, out);
}

void pool_unpack(struct pool *p, struct unpack *u)
{
	u->bad |= !record_unpack(u, &pool_table, p);
	u->bad |= p->sizes[0].units > p->full || p->sizes[1].units > p->full;
	u->bad |= p->sizes[0].units > 0 && p->sizes[0].units == p->sizes[1].units;
	levels_unpack(&p->use, u);
}

bool pool_is_after(const struct pool *p, int64_t ms)
{
	bool after = p->last_ms > ms || p->starved_ms > ms || p->minute > ms / MINUTE_MS;
	for (uint32_t i = 0; i < POOL_SIZES; i++) {
		after |= p->sizes[i].minute > ms / MINUTE_MS;
	}
	return after || levels_is_after(&p->use, ms);
}
