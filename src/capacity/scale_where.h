/* What a tenant says of nodes, for whoever makes one. Nothing here fails. */
#ifndef CAPACITY_SCALE_WHERE_H
#define CAPACITY_SCALE_WHERE_H

#include "ledger/nouns.h"

struct action;

uint64_t scale_key(struct world *world, const struct waiter *w);
/* Into the action, whose arena it is. False: no new node could be such a one. */
bool scale_where(
	struct picture *picture, const struct waiter *w, struct arena *arena, struct action *a);
/* It has a GPU that is not in use, or is getting one. */
bool scale_node_gives(const struct picture *picture, uint32_t node);

#endif
