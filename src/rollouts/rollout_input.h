/* What src/roll is asked about one workload. */
#ifndef ROLLOUTS_ROLLOUT_INPUT_H
#define ROLLOUTS_ROLLOUT_INPUT_H

#include "rollouts/rollouts.h"

struct rollout_input {
	struct roll_ask ask;
	struct roll_pod *pods;	       /* ask.pods */
	struct sized_pod **members;    /* as those */
	uint32_t outdated;	       /* of them */
	const struct sized_pod *mover; /* who should be on another GPU; NULL: that is not asked */
};

/* Was the workload's owner read within that age, or can nobody read it? */
bool owner_is_fresh(const struct sized_workload *x, int64_t now_ms, int64_t age_ms);
/* Fills the ask. False: there is nothing to ask. What becomes of a contended pod is noted in `d`.
 */
bool rollout_input_make(struct rollouts *s, struct sized_workload *x, struct decision *d,
	struct arena *a, struct rollout_input *ret);

#endif
