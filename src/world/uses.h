/* What the pods of a node take of it beside CPU, memory, slots and GPUs. */
#ifndef WORLD_USES_H
#define WORLD_USES_H

#include "store.h"

/* What is taken beside CPU, memory, slots and GPUs. `extra` is the text form. */
void uses_count(struct world *w, struct world_uses *u, const char *extra, int sign);
const char *uses_intern(struct world *w, const struct extra *x); /* a reference; NULL: nothing */
void uses_finish(struct world_uses *u);				 /* the words go with the world */
bool uses_agree(const struct world *w, uint32_t node);

#endif
