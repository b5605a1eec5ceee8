/* Grants of some of a tenant's GPUs that are never completed, because somebody takes another one.
 */
#ifndef SIM_RIVAL_H
#define SIM_RIVAL_H
#include "objects/sim_parts.h"

void rival_committed(struct sim *s, const struct commit *c);

#endif
