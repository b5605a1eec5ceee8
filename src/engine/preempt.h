/* Preemption (C17): who waits in vain may displace tenants of strictly lower priority, by evictions
 * that their budgets may refuse, and gets what that frees (hold.h).
 *
 * Only for a tenant, only after it has fitted nowhere for ten seconds on end, so that a GPU which
 * is being opened is waited for; never for a pod with preemptionPolicy Never or under a policy with
 * preemption Never. Of one GPU as few as possible, of them those of the lowest priority, of them
 * those with the least share; none before it is known that the pod would really run there, as far
 * as the scheduler's questions can be asked. Who is leaving anyway counts as gone: nobody else goes
 * instead. One eviction at a time for a waiter, and after each the choice is made anew.
 *
 * Whole-GPU pods displace nobody here. Nothing here fails. */
#ifndef ENGINE_PREEMPT_H
#define ENGINE_PREEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct engine;
struct plan;
struct world_pod;

/* A tenant that may have to give way, or goes already. */
struct incumbent {
	uint32_t gpu; /* of the snapshot */
	const struct world_pod *pod;
	bool leaves;
};

struct preempting {
	struct {
		VEC_FIELDS(struct incumbent); /* of this step, by GPU */
	} incumbents;
	int64_t next_at; /* nobody is looked at before */
};

/* After the decisions of a step. */
void preempt_tenants(struct engine *e, struct plan *plan);
void preempting_finish(struct preempting *p);

#endif
