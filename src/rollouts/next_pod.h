/* Will admission leave the next pod whole? */
#ifndef ROLLOUTS_NEXT_POD_H
#define ROLLOUTS_NEXT_POD_H

#include "rollouts/rollouts.h"

struct rollout_input;

/* A sentence that says why admission will leave the workload's next pod whole, or why nobody will
 * place it; NULL: as far as is known it gets its share. `like`: the pod that was made last. */
const char *next_pod_stays_whole(const struct sized_workload *x, const struct decision *d,
	const struct pod *like, const struct rollout_input *asked, struct arena *a);

#endif
