/* The whole nouns of GPU pods, packed and squeezed. */
#ifndef WORLD_NOUNS_INSIDE_H
#define WORLD_NOUNS_INSIDE_H

#include "store.h"

/* Packs a GPU pod, as it is kept behind its struct world_gpu. What is returned is borrowed until
 * noun_done. */
struct view noun_pack(struct world *w, const struct world_pod *p, const struct pod *pod);
void noun_done(struct world *w);
bool noun_same(struct world *w, const struct world_pod *p, const struct pod *pod);
size_t noun_size(const struct world_pod *p); /* as it was before it was squeezed */
/* A deep copy of what a change carries, in `arena`, which is emptied before. */
void world_copy_noun(
	struct world *w, const struct change *c, struct arena *arena, struct change *ret);

#endif
