/* The whole nouns of GPU pods, packed and squeezed. */
#ifndef WORLD_NOUNS_INSIDE_H
#define WORLD_NOUNS_INSIDE_H

#include "record/record_table.h"
#include "store.h"

/* Packs a GPU pod, as it is kept behind its struct world_gpu. What is returned is borrowed until
 * noun_done. */
struct view noun_pack(struct world *w, const struct world_pod *p, const struct pod *pod);
void noun_done(struct world *w);
bool noun_same(struct world *w, const struct world_pod *p, const struct pod *pod);
size_t noun_size(const struct world_pod *p); /* as it was before it was squeezed */
/* Everything below it is in `arena` then, and what that had before is gone; `from` may have been of
 * it, and may be *ret. */
void noun_copy(struct arena *arena, const struct record_table *t, const void *from, void *ret);

#endif
