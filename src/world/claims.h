/* PersistentVolumeClaims that tenants with our gate and pending pods name: one entry a claim, from
 * the first such pod to the last. */
#ifndef WORLD_CLAIMS_INSIDE_H
#define WORLD_CLAIMS_INSIDE_H

#include "store.h"

/* What a tenant with our gate or a pending pod names is taken, and left again; what
 * nobody names any more goes with claims_trim, so that an object that is set again loses nothing in
 * between. */
void claims_init(struct world *w);
void claims_take(struct world *w, struct world_gpu *g, const struct pod *pod);
void claims_leave(struct world *w, struct world_gpu *g);
void claims_trim(struct world *w);
void claims_set(struct world *w, const struct change *change);

#endif
