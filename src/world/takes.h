/* What pods take of their nodes, each combination kept once. */
#ifndef WORLD_TAKES_H
#define WORLD_TAKES_H

#include "store.h"

/* A reference to what the pod takes, given back with takes_release. */
void takes_init(struct world *w);
void takes_finish(struct world *w);
const struct world_takes *takes_of(struct world *w, const struct pod *pod);
void takes_release(struct world *w, const struct world_takes *t); /* NULL is fine */
/* What is taken beside CPU, memory, slots and GPUs. `extra` is the text form. */
void uses_count(struct world *w, struct world_uses *u, const char *extra, int sign);
const char *uses_intern(struct world *w, const struct extra *x); /* a reference; NULL: nothing */
void uses_finish(struct world_uses *u);				 /* the words go with the world */

#endif
