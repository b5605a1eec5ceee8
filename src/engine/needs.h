/* What a step must know of nodes and neighbours beside sums, once it is known who waits. All of it
 * is made anew in every step. */
#ifndef ENGINE_NEEDS_H
#define ENGINE_NEEDS_H

#include "base/alloc.h"
#include "base/vec.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/volume.h"

struct engine;

/* A GPU pod that is on a node, or will be. */
struct guest {
	uint32_t node; /* of the snapshot */
	const struct pod *pod;
};

struct needs {
	struct arena arena; /* of the snapshot's `promised`, and of guests */
	struct {
		VEC_FIELDS(struct guest);
	} guests;
	struct {
		VEC_FIELDS(const char *); /* borrowed; NULL: all of them */
	} spaces;			  /* the namespaces whose pods are guests */
	uint32_t apart;			  /* how many requests were marked */
};

/* needs.c: the snapshot's part that depends on who waits; after rank_waiters */
void needs_count(struct engine *e);
void needs_finish(struct needs *n);
struct claims_of {
	const struct volume_claim *items[POD_CLAIMS_MAX]; /* borrowed from the world */
	uint32_t count;
	const struct volume_claim *blocker; /* the first that keeps the pod waiting */
};
/* The pod's volumes: READING_VOLUMES, VOLUME_NOT_READY, or NONE where each can be judged. */
enum reason needs_claims(struct engine *e, const struct pod *pod, struct claims_of *ret_claims);

/* neighbours.c: anti-affinity on the host name */
void neighbours_gather(struct engine *e);
/* One more pod will be on that node of the snapshot. */
void neighbours_arrive(struct engine *e, uint32_t node, const struct pod *pod);
/* Marks the nodes that the pod must keep off; what place_request.apart must be. */
uint32_t neighbours_mark(struct engine *e, const struct pod *pod);

#endif
