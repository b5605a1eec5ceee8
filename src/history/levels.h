/* How often each of a hundred levels was seen, the old ones counting less: a histogram of linear
 * buckets whose weights are halved at each half life. Integers only.
 *
 * A sample weighs 2^(age/-half life), as 16 bits after the point. Instead of making all weights
 * smaller all the time a new sample weighs more, from 1 at the reference up to 2 a half life later;
 * then all are halved and the reference moves on. Where the sum of a bucket would not fit in 32
 * bits, all are halved and new samples weigh half (`scale`); the next half lives give that back.
 *
 * A level that was not seen for the window is forgotten: `seen` is when, in 64ths of the window, so
 * it may be kept for one of those longer.
 *
 * Most workloads are at few levels, so only those that were seen are kept, in one piece of memory:
 * their weights, then when each was seen, then which they are, 6 bytes for each of them. */
#ifndef HISTORY_LEVELS_H
#define HISTORY_LEVELS_H

#include "record/pack.h"
#include "model/sizing.h"

#define LEVELS		 100
#define LEVELS_WINDOW	 64
#define LEVELS_FULL	 ((uint32_t)1 << 31)
#define LEVELS_SCALE_MAX 16
#define LEVELS_TIME_MAX	 ((int64_t)1 << 43) /* the year 2248, in ms */
/* Before that no time is one. */
#define EARLIEST_MS ((int64_t)SIZING_WINDOW_MAX_S * 2000)

struct levels {
	/* owned; NULL: none. Of each level that was seen, by number; behind them as many bytes of
	 * `turn` when it was, its lowest bits, and as many of numbers */
	uint32_t *weights;
	uint8_t count, room;
	uint8_t scale;
	uint32_t half_life_s, window_s;
	int32_t turn;	      /* of the window's 64ths, the last one that was looked at */
	int64_t reference_ms; /* 0: nothing was ever seen */
};

void levels_init(struct levels *l, uint32_t half_life_s, uint32_t window_s);
void levels_finish(struct levels *l);
/* Another policy: weights stay as they are, and age otherwise from here. */
void levels_fit(struct levels *l, uint32_t half_life_s, uint32_t window_s, int64_t now_ms);
void levels_add(struct levels *l, uint32_t level, int64_t at_ms);
/* It was seen to be at this level or above, nobody knows where: it adds to what is known from there
 * up, in proportion, and none of that is forgotten; to this level itself where nothing is. */
void levels_add_censored(struct levels *l, uint32_t level, int64_t at_ms);
/* The lowest level such that it and those below hold so many percent of the weight; -1: nothing is
 * known. */
int32_t levels_percentile(const struct levels *l, int32_t percent, int64_t now_ms);
/* What the levels are parts of is larger from now on, `to` and no more `from`: what was seen is of
 * the level that has it all. */
void levels_shrink(struct levels *l, int64_t from, int64_t to);

uint32_t levels_weight(const struct levels *l, uint32_t level); /* as it is kept; 0: none */
size_t levels_bytes(const struct levels *l);			/* allocated beside the struct */

void levels_pack(const struct levels *l, struct str *out);
/* Sets u->bad where no histogram is like that; levels_finish in any case. */
void levels_unpack(struct levels *l, struct unpack *u);
/* A number of a checkpoint; u->bad, and 0, where it is larger than that. */
uint64_t unpack_at_most(struct unpack *u, uint64_t most);
/* Something was seen later than that. */
bool levels_is_after(const struct levels *l, int64_t ms);

#endif
