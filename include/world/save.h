/* The world as changes, as a journal begins with it. */
#ifndef WORLD_SAVE_H
#define WORLD_SAVE_H

#include "model/change.h"

struct world;

/* The changes that make an empty world into this one, for the call; `tell` changes nothing. */
typedef void (*world_tell)(void *data, const struct change *change);
void world_save(const struct world *w, world_tell tell, void *data);

#endif
