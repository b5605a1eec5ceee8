/* The pools that serving frameworks take at their start, as their pods tell of them. */
#ifndef TRACKING_POOLS_H
#define TRACKING_POOLS_H

#include "history/pool.h"
#include "right/prealloc.h"
#include "tracking/sizer_config.h"

struct sized_pod;

/* What is remembered of one container of one pod between two looks; all zero at first. */
union pool_feed {
	struct prealloc_watch watch; /* while its class is not decided; */
	int64_t preemptions; /* then: told so far, and 1. What is left is more than any count */
};

/* It tells how full its pool is: it takes its memory at the start. NULL: it tells nothing. */
bool pools_told(const struct app_gauges *app);
/* What one pod tells now, after its figures were taken. */
void pools_take(struct sized_pod *p, const struct sizer_use *use, int64_t now_ms);
/* Of its share, what the framework that tells of this pool is told to take; in percent. */
int32_t pools_part(const struct history *h, int64_t now_ms);

#endif
