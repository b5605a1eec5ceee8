/* How much memory a GPU of each node has, and the most that one pod could get: the largest GPU of
 * the nodes to which its selectors, affinity and tolerations let it go. What a GPU told when it was
 * held is exact; a label, or an agent, counts what nobody can use besides.
 *
 * Filled at the beginning of a round and published at once, so that what is asked between is of one
 * round. What is not known is 0. */
#ifndef SUPPLY_DEVICES_H
#define SUPPLY_DEVICES_H

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "world/world.h"

/* The GPUs of one node. */
struct device {
	uint32_t node;	   /* of the world */
	int32_t mib, fits; /* that one has, and that a share of it may have */
};
struct device_found {
	int32_t label, held;
};
struct device_shape {
	uint64_t id; /* of what a pod says of nodes */
	int32_t fits;
};

struct devices {
	VEC_OF(struct device_found) found;  /* of this round, by node; who begins one clears it */
	VEC_OF(struct device) at;	    /* of the last one, by node */
	VEC_OF(struct device) list;	    /* the same, the largest first */
	VEC_OF(struct device_shape) shapes; /* that were asked for since */
	struct map by_shape;
	uint64_t looks; /* at nodes, since the start */
};

void devices_init(struct devices *d);
void devices_finish(struct devices *d);
void devices_see(struct devices *d, const struct world *w, uint32_t node);
/* A capacity pod holds one there. */
void devices_hold(struct devices *d, uint32_t node, int64_t mib);
void devices_settle(struct devices *d, const struct world *w);

/* Of a node, WORLD_NONE: of none. */
int64_t devices_at(const struct devices *d, uint32_t node);
int64_t devices_fits_at(const struct devices *d, uint32_t node); /* the most of a share there */
int64_t devices_largest(const struct devices *d);
/* The most that a share of that pod can have where it may go; of none of those is it known: where
 * anybody may. */
int64_t devices_for(struct devices *d, const struct world *w, const struct pod *pod);

/* As its owner would make it anew: a tenant was pinned to its node when it was placed. `ret`
 * borrows from the pod, and what is new from the arena. */
void devices_unpin(const struct pod *pod, struct arena *a, struct pod *ret);

#endif
