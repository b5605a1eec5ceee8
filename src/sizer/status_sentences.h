/* Sentences of a GPURecommendation that say who keeps a workload from its target, and what to do
 * about it. In the arena, or literals. */
#ifndef SIZER_STATUS_SENTENCES_H
#define SIZER_STATUS_SENTENCES_H

#include "right/hold.h"
#include "tracking/decision.h"
#include "tracking/tracking.h"

struct say_sentence {
	const char *reason, *message;
};

/* Why nothing is done with a target, whatever is known; no reason: something is. */
struct say_sentence why_hindered(const struct sized_workload *x, const struct decision *d,
	bool unsupported, struct arena *a);
struct say_sentence why_unsupported(const struct sized_workload *x);
/* Why it is whole and has no target. */
const char *why_whole(struct hold_part held, const struct decision *d, struct arena *a);
/* The time that is waited for, as the end of a sentence; "": none is. */
const char *why_not_before(struct arena *a, int64_t next_ms);
/* Too little is known of it, since `first_ms`; 0: nothing at all. */
const char *why_learning(const struct decision *d, int64_t first_ms, struct arena *a);
/* What was known of it before this process led has not been read. */
const char *why_unread(bool converted);
/* There is a target, and its mode is Recommend. */
const char *why_shown(const struct decision *d, struct arena *a);
/* Not every pod has the target: `r` says already what keeps running pods from it. */
const char *why_differs(const struct sized_workload *x, const struct decision *d,
	const struct recommendation *r, struct arena *a);
const char *why_capped(enum capped_by by, const struct decision *d, struct arena *a);

#endif
