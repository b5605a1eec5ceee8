/* A pool for keys and values as it is remembered. */
#ifndef HISTORY_POOL_PARTS_H
#define HISTORY_POOL_PARTS_H

#include "history/pool.h"
#include "levels.h"

#define POOL_SIZES    2
#define POOL_UNIT_MAX METERED_MEMORY_MAX

/* Of all pods whose pool had so many units. */
struct pool_size {
	int64_t units;		 /* 0: none */
	int32_t low_mib;	 /* that a process with it took */
	int32_t minutes, minute; /* seen, and the last of them */
};

struct pool {
	struct levels use; /* in hundredths of `full` */
	int64_t full;	   /* units: the largest pool that was seen; 0: none was told */
	int64_t unit;	   /* bytes; 0: not known */
	struct pool_size sizes[POOL_SIZES];
	int64_t last_ms, starved_ms;
	int32_t slack_mib; /* by how much a process of one size was above the least of it */
	int32_t minutes, minute;
	uint32_t print;
	uint8_t engine;
	bool fixed, told_bytes;
};

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
