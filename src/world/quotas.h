/* ResourceQuotas that bound GPUs, and what of each is taken: kept up with every pod, since a step
 * must not walk over all of them. */
#ifndef WORLD_QUOTAS_INSIDE_H
#define WORLD_QUOTAS_INSIDE_H

#include "store.h"

void quotas_init(struct world *w);
/* Adds (sign 1) or removes (-1) what a pod takes of the quotas that cover it. */
void quotas_count(struct world *w, const struct world_pod *p, int sign);
void quotas_set(struct world *w, const struct quota *noun);

#endif
