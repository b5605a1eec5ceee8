/* Does a container want more compute than it has? Saturation alone does not tell: a batch job fills
 * whatever it gets. It is pressure when it also waits, or has been saturated for long. Pure. */
#ifndef RIGHT_PRESS_H
#define RIGHT_PRESS_H

#include "model/metered.h"

#define PRESS_FULL_PERCENT 95 /* of its share: a saturated minute */
#define PRESS_MINUTES	   10
#define PRESS_MINUTES_LONG 30

/* The last minutes of one container of one pod. The caller's; all zero at first. */
struct press {
	int32_t minute; /* the last one, since 1970 */
	/* one bit a minute, the lowest is the last one */
	uint32_t full;
	/* of these no more than PRESS_MINUTES are looked at */
	uint16_t told, waits; /* whether it waits was told, and it did */
	uint16_t crowded;     /* the device was full */
};

struct press_look {
	int64_t at_ms;
	int64_t compute; /* of METERED_FULL; METERED_ABSENT: not told */
	int64_t share;	 /* in the same units; more than it may be used where nothing enforces it */
	int64_t throttled; /* of METERED_GAUGE_FULL, the time it was held back; METERED_ABSENT */
	int64_t waiting;   /* requests; METERED_ABSENT */
	int64_t device;	   /* all use of the device, of METERED_FULL; METERED_ABSENT */
};

/* One figure; a minute is saturated if its last figure is. */
void press_take(struct press *p, const struct press_look *look);

enum press_verdict {
	PRESS_NONE,
	PRESS_MORE,	  /* it needs more */
	PRESS_CONTENTION, /* it is not saturated, but the device is: a neighbour should move */
};

/* PRESS_MORE: at least 8 of the last 10 minutes were saturated, and it was throttled for a fifth of
 * the time or let requests wait in one of them; or, where neither was told in any of them, at least
 * 24 of the last 30, the first of them too. Minutes of which nothing is known are not saturated. */
enum press_verdict press_judge(const struct press *p, int64_t now_ms);
/* Of several replicas: one counts as all of them if it is more than what the percentile leaves out
 * (docs/design/sizing.md, Replicas). */
bool press_counts(uint32_t pressed, uint32_t replicas, int32_t percentile);

#endif
