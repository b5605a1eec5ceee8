/* Preemption (C17): who waits in vain may displace tenants of strictly lower priority, by evictions
 * that their budgets may refuse, and gets what that frees (ledger/eviction_hold.h).
 *
 * Only after it has fitted nowhere for --preempt-seconds on end, so that a GPU which is being
 * opened is waited for; never for a pod with preemptionPolicy Never or under a policy with
 * preemption Never. Of one GPU as few as possible, of them those of the lowest priority, of them
 * those with the least share; where several GPUs are needed, preempt_plan.h. None before it is
 * known that the pod would really run there, as far as the scheduler's questions can be asked. Who
 * is leaving anyway counts as gone: nobody else goes instead. One eviction at a time for a waiter,
 * and after each the choice is made anew.
 *
 * Tenants and pods that ask for whole GPUs are looked at in their common order (whole.h). Nothing
 * here fails. */
#ifndef SCHEDULING_PREEMPT_H
#define SCHEDULING_PREEMPT_H

#include "guardian/evict.h"
#include "ledger/nouns.h"
#include "scheduling/incumbent.h"
#include "scheduling/preempt_plan.h"

struct preempting {
	struct picture *picture; /* borrowed, as are these */
	struct scheduling *scheduling;
	struct evictions *evictions;
	struct incumbents incumbents; /* of this step */
	struct preempt_search search;
	int64_t next_at; /* nobody is looked at before */
	uint64_t from;	 /* the rank at which the last look ended; 0: with nobody left */
};

/* When somebody who displaces another looks again, and when somebody who cannot. */
#define PREEMPT_SOON_MS	 250
#define PREEMPT_LATER_MS 5000

/* After the decisions of a step. */
void preempt_tenants(struct preempting *preempting, struct emitter *out);
void preempting_finish(struct preempting *p);

#endif
