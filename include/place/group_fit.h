/* A share on each of several GPUs of one node. */
#ifndef PLACE_GROUP_FIT_H
#define PLACE_GROUP_FIT_H

#include "place/gpu_picture.h"

/* A pod that asks for the same share on each of several GPUs of one node. */
struct place_party {
	const struct place_request *request; /* borrowed */
	uint32_t count;			     /* GPUs, those that it has not counted */
	uint32_t node;			     /* where it has some already, with the pod's CPU and
						memory; PLACE_NOWHERE: none */
	uint32_t has[MODEL_GPU_COUNT_MAX];
	uint32_t has_count;
	bool past_keeps; /* what is kept for somebody counts as if it were not */
};
struct place_group {
	uint32_t node;			    /* PLACE_NOWHERE: none has so many */
	uint32_t gpus[MODEL_GPU_COUNT_MAX]; /* in no order that means anything */
	uint32_t count;			    /* the rest is to be opened there */
	int64_t milli, mem_mib;		    /* on each */
	enum reason reason;
	enum unfit nearest;
	const char *best_node; /* the closest miss, and how many it has or could open */
	uint32_t best_count;
	uint32_t looked_at;
};
struct place_group place_group(const struct snapshot *s, const struct place_party *p);
/* The first reservation on a node where the party would fit without it; NULL: there is none. */
const struct place_keep *place_group_kept_from(
	const struct snapshot *s, const struct place_party *p);

#endif
