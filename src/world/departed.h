/* Tenants that are gone, and how they went: what is remembered of a pod after its object. */
#ifndef WORLD_DEPARTED_INSIDE_H
#define WORLD_DEPARTED_INSIDE_H

#include "store.h"

void departed_init(struct world *w);
/* `told`: an event said that it goes; it was merely not in a list otherwise. */
void departed_note(struct world *w, const struct world_pod *p, bool told);

#endif
