/* What share fits what was measured of one container. Pure: a policy's numbers and a history go in,
 * a share comes out, whatever is in force now; when it is applied is for right/hold.h.
 *
 * Compute is the policy's percentile with its headroom, or the median of the last minutes with it
 * where that is more, rounded up to a step. Memory is the peak with its headroom, rounded up, but
 * for a framework that takes memory ahead of need (right/prealloc.h). Both are then kept within the
 * policy's bounds and within the device; the uncapped share says what they would have been.
 *
 * A share of 0 is not known. Nothing here fails. */
#ifndef RIGHT_RECOMMEND_H
#define RIGHT_RECOMMEND_H

#include "history/history.h"
#include "model/recommendation.h"
#include "model/sizing.h"
#include "right/prealloc.h"

struct recommend_ask {
	const struct sizing *sizing;   /* borrowed */
	const struct history *history; /* borrowed; judged before (history_judge) */
	struct history_facts facts;    /* of it */
	int64_t now_ms;
	int64_t device_mib; /* usable memory of the largest GPU it can get; 0: not known, no cap */
	struct prealloc_state prealloc;
};

struct recommend_answer {
	struct share target;   /* what it should have */
	struct share uncapped; /* if neither policy nor device limited it */
	struct share lower;    /* below this it is known to suffer: its median, its peak */
	struct share upper;    /* above this a share is known to be wasted: the nearer to the target
				  the longer it was observed */
	enum capped_by compute_capped, memory_capped;
	struct recommended_usage usage;
	bool fast; /* the last minutes ask for more than the percentile */
	enum prealloc_by memory_by;
};

void recommend_share(const struct recommend_ask *ask, struct recommend_answer *ret);
/* The one word of status for both: a device before a policy's maximum before its minimum. */
enum capped_by recommend_capped(const struct recommend_answer *a);

#endif
