/* What rollout_plan.c (judging) and course.c (following up) share. */
#ifndef ROLL_PARTS_H
#define ROLL_PARTS_H

#include "roll/roll.h"

/* It counts as one of the workload's pods. */
static inline bool roll_pod_counts(const struct roll_pod *p)
{
	return !p->leaving;
}

/* How many there should be. */
int32_t roll_replicas(const struct roll_ask *ask);

/* course.c: what is under way, as the pods tell it. True: it still is, and *ret_next_ms is when
 * it is something else at the latest. */
bool roll_follow(
	struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask, int64_t *ret_next_ms);
/* What stopped the workload, if its time is not over. */
bool roll_is_paused(struct roll *r, int64_t now_ms, int64_t *ret_until_ms);

#endif
