/* Sentences of a GPURecommendation that say who keeps a workload from its target, and what to do
 * about it. In the arena, or literals. */
#ifndef SIZER_STATUS_SENTENCES_H
#define SIZER_STATUS_SENTENCES_H

#include "right/hold.h"
#include "tracking/decision.h"
#include "tracking/tracking.h"

struct sentence {
	const char *reason, *message;
};

/* A status while it is written; all of it is borrowed. */
struct status {
	const struct sized_workload *x;
	const struct decision *d;
	struct arena *a; /* of what is said */
	struct recommendation *r;
};

/* The time of a condition is that of its last change. */
void set_condition(const struct status *s, enum recommendation_condition type, bool is_true,
	struct sentence say);
void set_true(const struct status *s, enum recommendation_condition type, const char *reason,
	const char *message);

/* Why nothing is done with a target, whatever is known; no reason: something is. */
struct sentence why_hindered(const struct status *s);
struct sentence why_unsupported(const struct sized_workload *x);
/* Why it is whole and has no target. */
const char *why_whole(struct hold_part held, const struct decision *d, struct arena *a);
/* Why the target that is in force stays, though another one is asked for; NULL: none is. */
const char *why_stays(struct hold_part held, struct arena *a);
/* Too little is known of it, since `first_ms`; 0: nothing at all. */
const char *why_learning(const struct decision *d, int64_t first_ms, struct arena *a);
/* What was known of it before this process led has not been read. */
const char *why_unread(bool converted);
/* There is a target, and its mode is Recommend. */
const char *why_shown(const struct decision *d, struct arena *a);
/* Not every pod has the target: the status says already what keeps running pods from it. */
const char *why_differs(const struct status *s);
const char *why_capped(enum capped_by by, const struct decision *d, struct arena *a);

#endif
