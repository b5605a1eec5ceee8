/* What agents have told of their nodes: one entry a node, the last that was told. */
#ifndef WORLD_NODE_STATES_INSIDE_H
#define WORLD_NODE_STATES_INSIDE_H

#include "store.h"

void states_set(struct world *w, const struct change *c);
void states_gone(struct world *w, const char *name);
void states_drop(struct world_node *n);

#endif
