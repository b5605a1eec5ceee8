/* What is under way with one workload's pods, from its begin to its end. */
#ifndef ROLL_COURSE_H
#define ROLL_COURSE_H

#include "roll/roll.h"

/* A roll that is all zero is one of which nothing is known. */
void roll_finish(struct roll *r);
/* What the GPURecommendation says of the past; what was known is forgotten. */
void roll_restore(struct roll *r, const struct recommendation *told);
/* C35: pods that were to have a share wait in vain, and new ones are whole for a while. False: a
 * surge is under way, which ends by itself. */
bool roll_give_back(struct roll *r, struct roll_fleet *fleet, int64_t now_ms);
/* A person, or another policy, ends what stopped it. */
void roll_resume(struct roll *r);

/* The caller carries the verdict out: EVICT, SURGE. */
void roll_begin(struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask,
	const struct roll_verdict *v);

enum roll_end {
	ROLL_END_DONE,	  /* the pod is going; what comes instead is watched */
	ROLL_END_GONE,	  /* it was gone before */
	ROLL_END_BUDGET,  /* a disruption budget refused */
	ROLL_END_REFUSED, /* something else did, or the surge was dropped */
	ROLL_END_LOST,	  /* the wrong pod went (C25) */
};
struct roll_ending {
	enum roll_end end;
	const char *by;	 /* who refused; NULL: nobody is named */
	int64_t wait_ms; /* for how long the refusal asked to wait; 0: it did not */
	bool made;	 /* a surge's new pod was made, and did not get ready */
};
/* What became of the replacement that was begun. */
void roll_settle(
	struct roll *r, struct roll_fleet *fleet, const struct roll_ending *e, int64_t now_ms);
/* How many pods the workload should have. */
int32_t roll_replicas(const struct roll_ask *ask);

/* Follows what is under way, as the pods tell it. True: it still is, and *ret_next_ms is when that
 * changes at the latest. */
bool roll_follow(
	struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask, int64_t *ret_next_ms);
/* What stopped the workload, if its time is not over. */
bool roll_is_paused(struct roll *r, int64_t now_ms, int64_t *ret_until_ms);

#endif
