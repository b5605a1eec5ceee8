/* What is decided of one workload in one look at it, and what that is decided by. */
#ifndef TRACKING_DECISION_H
#define TRACKING_DECISION_H

#include "model/recommendation.h"
#include "size/policy_resolution.h"
#include "tracking/sizer_config.h"

struct scaler;
struct world;

struct decision {
	struct policy_choice choice;
	const struct sizer_config *config; /* borrowed, like */
	const struct world *world;	   /* this */
	int64_t now_ms;
	bool unread; /* checkpoints are not all read: what they say may be more than what is known
		      */
	/* what keeps running pods from their share, one word and a sentence; NULL: nothing does */
	const char *blocked, *blocker;
	/* sentences: what stopped replacements, what becomes of a contended pod, and of the others;
	 * NULL: there is nothing to say */
	const char *paused, *moves, *course;
	/* the scaler that goes by GPU use, and any scaler; borrowed, NULL: none is known */
	const struct scaler *scaler, *resizer;
	const char *scaler_metric;   /* the metric by which it scales */
	struct share asked, granted; /* what a person asks for, and within the bounds (C6) */
	char missing[128];	     /* the policy that is named and not there, cut; "" */
};

#endif
