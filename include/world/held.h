/* What a pod has of GPUs, as it counts for those who tell of it. */
#ifndef WORLD_HELD_H
#define WORLD_HELD_H

#include "world/world.h"

/* Thousandths of a GPU, of all that it has; a pod that waits for its node has none. A GPU pod. */
int64_t world_pod_milli(const struct world_pod *p);

#endif
