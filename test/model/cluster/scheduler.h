/* The default scheduler, as much of it as matters: gates, the node pin and the node selector,
 * taints left out, nvidia.com/gpu, CPU, memory and pod slots by requests. */
#ifndef SIM_SCHEDULER_H
#define SIM_SCHEDULER_H
#include "objects/sim_parts.h"

void scheduler_soon(struct sim *s);

#endif
