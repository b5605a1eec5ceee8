/* What agents have told of their nodes, as the world keeps it: the last of each, however old. The
 * world owns it; it is borrowed until the next world_apply. Nothing here fails. */
#ifndef WORLD_NODE_STATES_H
#define WORLD_NODE_STATES_H

#include "world/world.h"

const struct node_state *world_state_of(const struct world *w, uint32_t node); /* NULL: none */
/* Is there anybody for whom the node's agent should be asked? */
bool world_wants_state(const struct world *w, uint32_t node);

#endif
