/* The pool for keys and values that a serving framework takes at its start: how much of it is in
 * use over time, how many bytes it has, and what else its process takes.
 *
 * A framework tells its pool in units: blocks, tokens, or bytes. Where it does not tell bytes, what
 * a unit takes is learnt from two pods of the same template whose pools differ in size by a
 * quarter or more: what the larger one used at least, less what the smaller one used at most and
 * as much again as either was seen to vary, by the units between them. So a unit, and with it the
 * pool, is taken for too small rather than for too large, and what is not pool for too large. Use
 * is kept in units, so that it means the same whatever the pool's size.
 *
 * Another print is another pool: all of it is learnt anew once the former one was not told for ten
 * minutes. It is allocated with the first figure, and a container that tells none has none. */
#ifndef HISTORY_POOL_H
#define HISTORY_POOL_H

#include "history/history.h"

#define HISTORY_POOL_UNITS_MAX ((int64_t)1 << 44)

struct history_pool_sample {
	uint32_t print;	  /* of the template, and of what else tells one pool from another */
	uint8_t engine;	  /* enum app_engine */
	bool alike;	  /* all pods of that print are of one template */
	bool fixed;	  /* somebody set its size, whatever the share */
	int64_t units;	  /* that it has; METERED_ABSENT: not told */
	int64_t in_bytes; /* all of it, told by the framework; METERED_ABSENT */
	int64_t used;	  /* of METERED_GAUGE_FULL; METERED_ABSENT */
	int64_t mem_mib;  /* of its process, settled; METERED_ABSENT */
};
void history_take_pool(struct history *h, const struct history_pool_sample *s, int64_t now_ms);
/* Requests were preempted for lack of room in it. */
void history_starved(struct history *h, int64_t now_ms);

struct history_pool {
	bool told;	  /* something of it was within the window */
	bool counted;	  /* its size, in units at least */
	bool sized;	  /* its size in MiB, and so that of the rest */
	bool fixed;	  /* as somebody set it */
	bool starved;	  /* within the window */
	uint8_t engine;	  /* enum app_engine */
	int64_t minutes;  /* in which its use was told */
	int64_t use_mib;  /* the percentile that was asked for; -1: not known */
	int64_t rest_mib; /* of what is not pool, the most; -1 */
};
void history_pool(
	const struct history *h, int32_t percentile, int64_t now_ms, struct history_pool *ret);

/* For the other files of the history. */
struct pool;
struct str;
struct unpack;
struct pool *pool_create(uint32_t half_life_s, uint32_t window_s);
void pool_destroy(struct pool *p); /* NULL is fine */
size_t pool_bytes(const struct pool *p);
void pool_take(struct pool *p, const struct history_pool_sample *s, int64_t now_ms);
void pool_pack(const struct pool *p, struct str *out);
/* Sets u->bad where no pool is like that. */
void pool_unpack(struct pool *p, struct unpack *u);
/* Something of it is of later than that. */
bool pool_is_after(const struct pool *p, int64_t ms);

#endif
