/* Making the index of a picture, and keeping it true while shares are taken out of the picture. */
#ifndef PLACE_INDEX_BUILD_H
#define PLACE_INDEX_BUILD_H

#include "index.h"

bool index_is_built(const struct snapshot *s);
void index_make(struct snapshot *s);
void index_gpu_changed(struct snapshot *s, uint32_t gpu);
void index_node_changed(struct snapshot *s, uint32_t node);
void index_drop(struct place_index *x); /* forgets the picture; its memory is kept */
void index_free(struct place_index *x);
/* The first class that is not before these. */
size_t index_class_from(const struct place_index *x, uint64_t company, int64_t usable_mib);
void index_know_spread(const struct snapshot *s);
void index_know_misses(const struct snapshot *s);
void index_know_opens(const struct snapshot *s);

#endif
