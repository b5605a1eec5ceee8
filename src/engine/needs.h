/* What a step must know of nodes and neighbours beside sums, once it is known who waits. All of it
 * is made anew in every step. */
#ifndef ENGINE_NEEDS_H
#define ENGINE_NEEDS_H

#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/volume.h"

struct picture;
struct scheduling;
struct shuns;
struct world;

/* A GPU pod that is on a node, or will be. */
struct guest {
	uint32_t node; /* of the snapshot */
	const struct pod *pod;
	bool leaves; /* it is being deleted */
};

/* Which nodes a spread counts, and which of them are near each other (zoning.c). */
struct zoning {
	struct str key; /* what was asked, as bytes */
	uint64_t step;	/* of which it is */
	struct {
		VEC_FIELDS(uint32_t);
	} of; /* beside the world's nodes: the number of its value; WORLD_NONE: it does not count */
	uint32_t count; /* values */
};
#define ZONINGS_MAX 16

struct needs {
	struct picture *picture; /* borrowed, as are these */
	const struct shuns *shuns;
	struct arena arena; /* of the snapshot's `promised`, and of guests */
	struct {
		VEC_FIELDS(struct guest);
	} guests;
	struct {
		VEC_FIELDS(const char *); /* borrowed; NULL: all of them */
	} spaces;			  /* the namespaces whose pods are guests */
	struct {
		VEC_FIELDS(uint32_t);
	} apart_guests; /* of the guests: those who keep others off by anti-affinity */
	struct zoning zonings[ZONINGS_MAX];
	uint32_t next_zoning;
	/* scratch of one request */
	struct {
		VEC_FIELDS(uint32_t);
	} counts, here;
	struct {
		VEC_FIELDS(const char *);
	} values;
	struct {
		VEC_FIELDS(struct pair); /* a label, and a value of it */
	} places;
	uint32_t apart; /* how many requests were marked */
};

/* needs.c: the snapshot's part that depends on who waits; after rank_waiters */
void needs_count(struct scheduling *sched);
void needs_finish(struct needs *n);
struct claims_of {
	const struct volume_claim *items[POD_CLAIMS_MAX]; /* borrowed from the world */
	uint32_t count;
	const struct volume_claim *blocker; /* the first that keeps the pod waiting */
};
/* The pod's volumes: READING_VOLUMES, VOLUME_NOT_READY, or NONE where each can be judged. */
enum reason needs_claims(struct world *world, const struct pod *pod, struct claims_of *ret_claims);

/* zoning.c: of a spread of the pod. Valid until ZONINGS_MAX others were asked for. */
const struct zoning *zoning_of(
	struct needs *needs, const struct pod *pod, const struct neighbour_term *spread);
void zonings_finish(struct needs *n);

/* neighbours.c: what pods with GPUs require of each other */
void neighbours_gather(struct scheduling *sched);
/* One more pod will be on that node of the snapshot. */
void neighbours_arrive(struct needs *needs, uint32_t node, const struct pod *pod);
/* Marks the nodes that the pod must keep off; what place_request.apart must be. Of a pod for whole
 * GPUs only anti-affinity on the host name is looked at. */
uint32_t neighbours_mark(struct needs *needs, const struct pod *pod);

#endif
