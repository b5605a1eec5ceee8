/* Nodes by name: a pod may name one before it is seen, and then it has its place already. */
#ifndef WORLD_NODES_INSIDE_H
#define WORLD_NODES_INSIDE_H

#include "store.h"

uint32_t nodes_touch(struct world *w, const char *name); /* the index, made if unknown */

#endif
