/* The verdict: is a pod of the workload replaced now, which and how? */
#ifndef ROLL_ROLLOUT_PLAN_H
#define ROLL_ROLLOUT_PLAN_H

#include "roll/roll.h"

/* Follows up what is under way, then judges. */
void roll_plan(struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask,
	struct roll_verdict *ret);

/* After a rollback: may that pod, which is not Ready, make way for one with the former share? It
 * waits for no more than ROLL_HEALS does. */
bool roll_makes_way(struct roll_fleet *fleet, const struct roll_ask *ask, uint32_t pod);

#endif
