/* A container that uses so much for so long, on a clock of its own. */
#ifndef RIGHT_BED_H
#define RIGHT_BED_H

#include <string.h>

#include "base/alloc.h"
#include "history/history.h"
#include "right/hold.h"
#include "right/recommend.h"

#define MINUTE 60000
#define HOUR   3600000
#define DAY    (24LL * HOUR)
#define GIB    1024
#define START  1767225600000 /* 2026-01-01, a full hour */
#define PODS   4

struct bed {
	struct sizing sizing;
	struct history *history;
	struct history_feed feeds[PODS];
	struct history_source source;
	struct prealloc_state prealloc;
	int64_t device_mib, wall;
	int64_t now;
};

static inline void bed_init(struct bed *b)
{
	static const struct sizing real_time = SIZING_DEFAULT;
	*b = (struct bed){.sizing = real_time,
		.history = history_create(),
		.source = {METERED_AGENT, false, "sm_active"},
		.device_mib = 80LL * GIB,
		.wall = METERED_FULL,
		.now = START};
}

static inline void bed_finish(struct bed *b)
{
	history_destroy(b->history);
	b->history = NULL;
}

/* One sample of one pod, now. */
static inline bool bed_sample(struct bed *b, uint32_t pod, int64_t compute, int64_t mib)
{
	struct history_sample s = {
		b->source, b->now, compute, b->wall, mib < 0 ? METERED_ABSENT : mib << 20};
	return history_take(b->history, &b->feeds[pod], &s, b->now);
}

static inline void bed_settle(struct bed *b)
{
	for (uint32_t i = 0; i < PODS; i++) {
		history_settle(b->history, &b->feeds[i], b->now);
	}
}

/* Compute in percent of one GPU and memory in MiB, each 15 s for so many minutes. */
static inline void bed_use(struct bed *b, int64_t minutes, int64_t percent, int64_t mib)
{
	for (int64_t i = 0; i < minutes * 4; i++, b->now += MINUTE / 4) {
		bed_sample(b, 0, percent * METERED_FULL / 100, mib);
	}
	bed_settle(b);
}

static inline struct history_facts bed_judge(struct bed *b)
{
	return history_judge(b->history, &b->sizing, b->now, true);
}

static inline struct recommend_answer bed_recommend(struct bed *b)
{
	struct recommend_answer a;
	struct recommend_ask ask = {.sizing = &b->sizing,
		.history = b->history,
		.facts = bed_judge(b),
		.now_ms = b->now,
		.device_mib = b->device_mib,
		.prealloc = b->prealloc};
	recommend_share(&ask, &a);
	return a;
}

/* With `current` in force; it is followed up where it changes. */
static inline struct hold_answer bed_hold(struct bed *b, struct share *current, bool *whole)
{
	struct hold_answer a;
	struct hold_ask ask = {.sizing = &b->sizing,
		.facts = bed_judge(b),
		.current = *current,
		.whole = *whole,
		.wanted = bed_recommend(b).target,
		.now_ms = b->now};
	hold_step(&ask, history_kept(b->history), &a);
	*current = a.target;
	*whole = *whole && !a.changes;
	return a;
}

#endif
