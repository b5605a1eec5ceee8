/* The object of a pod as the world keeps it, read whole. */
#ifndef ENGINE_POD_OBJECT_H
#define ENGINE_POD_OBJECT_H

#include "model/pod.h"

struct arena;
struct world_pod;

/* Of a pod that was kept whole, as a tenant's and a capacity pod's is; what it points to is the
 * arena's. */
struct pod pod_of(const struct world_pod *p, struct arena *arena);

#endif
