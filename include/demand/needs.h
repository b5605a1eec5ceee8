/* What a step must know of nodes and neighbours beside sums, once it is known who waits. All of it
 * is made anew in every step. */
#ifndef DEMAND_NEEDS_H
#define DEMAND_NEEDS_H

#include "base/alloc.h"
#include "base/vec.h"
#include "demand/zoning.h"
#include "ledger/nouns.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/volume.h"

/* A GPU pod that is on a node, or will be. */
struct guest {
	uint32_t node; /* of the snapshot */
	const struct pod *pod;
	bool leaves; /* it is being deleted */
};

struct needs {
	struct picture *picture; /* borrowed, as are these */
	const struct gpu_avoidances *avoidances;
	struct arena arena; /* of the snapshot's `promised`, and of guests */
	VEC_OF(struct guest) guests;
	VEC_OF(const char *)
	spaces; /* borrowed; NULL: all of them */ /* the namespaces whose pods are guests */
	VEC_OF(uint32_t)
	apart_guests; /* of the guests: those who keep others off by anti-affinity */
	struct zoning zonings[ZONINGS_MAX];
	uint32_t next_zoning;
	/* scratch of one request */
	struct {
		VEC_FIELDS(uint32_t);
	} counts, here;
	VEC_OF(const char *) values;
	VEC_OF(struct pair) places; /* a label, and a value of it */
	uint32_t apart;		    /* how many requests were marked */
};

/* needs.c: the snapshot's part that depends on who waits; after rank_waiters */
void needs_count(struct wholes *wholes, const struct ranked *ranked);
void needs_finish(struct needs *n);
struct claims_of {
	const struct volume_claim *items[POD_CLAIMS_MAX]; /* borrowed from the world */
	uint32_t count;
	const struct volume_claim *blocker; /* the first that keeps the pod waiting */
};
/* The pod's volumes: READING_VOLUMES, VOLUME_NOT_READY, or NONE where each can be judged. */
enum reason needs_claims(struct world *world, const struct pod *pod, struct claims_of *ret_claims);
/* What the pod asks of nodes, as of now: its volumes, which the request borrows, and its
 * neighbours. */
void needs_ask(struct needs *needs, const struct pod *pod, const struct claims_of *claims,
	struct place_request *r);

#endif
