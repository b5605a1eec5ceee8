/* A Bloom filter a namespace, of one hash: pairs of key and value, and keys. */
#ifndef WORLD_SIGHTINGS_INSIDE_H
#define WORLD_SIGHTINGS_INSIDE_H

#include "store.h"

/* A pod that has nothing to do with GPUs was told. */
void sightings_init(struct world *w);
void sightings_note(struct world *w, const struct pod *pod);

#endif
