/* Will admission leave the next pod whole? */
#ifndef ROLLOUTS_NEXT_POD_H
#define ROLLOUTS_NEXT_POD_H

#include "rollouts/rollouts.h"

struct asked;

/* A sentence that says why admission will leave the workload's next pod whole, or why nobody will
 * place it; NULL: as far as is known it gets its share. `like`: the pod that was made last. */
const char *asks_left_whole(const struct sized_workload *x, const struct decision *d,
	const struct pod *like, const struct asked *asked, struct arena *a);

#endif
