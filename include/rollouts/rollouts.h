/* Replacing the running pods of workloads, so that they get the share that is recommended: an
 * eviction, a surge, or a move to another GPU. src/roll decides; here is what it is asked, and what
 * follows from what it says. */
#ifndef ROLLOUTS_ROLLOUTS_H
#define ROLLOUTS_ROLLOUTS_H

#include "rollouts/moves.h"
#include "rollouts/surges.h"
#include "supply/supply.h"
#include "tracking/decision.h"
#include "tracking/tracking.h"

struct rollouts {
	struct tracking *tracking;  /* borrowed, like */
	struct supply *supply;	    /* this, */
	struct heal_alarms *alarms; /* and this: who waits for his owner is looked at at once */
	struct roll_fleet fleet;
	struct roll_gate gate;
	struct surges surges;
	struct moves moves;
};

void rollouts_init(struct rollouts *s, struct tracking *tracking, struct supply *supply,
	struct heal_alarms *alarms);
void rollouts_finish(struct rollouts *s);
/* Who leads no more forgets what is under way. */
void rollouts_gate(struct rollouts *s, const struct roll_gate *gate);

/* Called once the workload's target is decided, and before its status is written. Returns how many
 * units of work it took. */
uint32_t rollouts_step(
	struct rollouts *s, struct sized_workload *x, struct decision *d, struct plan *plan);

#endif
