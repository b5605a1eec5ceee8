/* Nodes, policies, namespaces and limit ranges: few and read often, so each keeps its noun unpacked
 * in a small arena of its own. */
#ifndef WORLD_OBJECTS_INSIDE_H
#define WORLD_OBJECTS_INSIDE_H

#include "store.h"

/* Nodes, policies, namespaces, limit ranges */
void objects_init(struct world *w);
void objects_finish(struct world *w);
void objects_set(struct world *w, const struct change *c);
void objects_gone(struct world *w, const struct change *c);
void objects_keep(struct world *w, const struct change *c);
void objects_sweep(struct world *w, enum kind kind, uint32_t mark);

#endif
