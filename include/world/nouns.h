/* The whole noun of a GPU pod. */
#ifndef WORLD_NOUNS_H
#define WORLD_NOUNS_H

#include "base/alloc.h"
#include "model/pod.h"

struct world;

struct world_pod;

bool world_pod_unpack(const struct world_pod *p, struct arena *a, struct pod *ret_pod);

#endif
