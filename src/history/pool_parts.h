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

#endif
