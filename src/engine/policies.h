/* The pass over the GPU pods that tells policies what they hold: its state, kept by the engine and
 * by the journal. Owned by the engine; nothing here fails. */
#ifndef ENGINE_POLICIES_H
#define ENGINE_POLICIES_H

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "ledger/engine_config.h"
#include "ledger/nouns.h"
#include "size/policy_resolution.h"

struct pools;

/* A pod that was told something, and when last. */
struct told_pod {
	uint64_t hash; /* of its uid, and of what it was told */
	int64_t at;
};

/* One pass over the GPU pods for the policies, in slices. */
struct policies_pass {
	bool running;
	int64_t started_at;
	uint32_t at;			   /* next slot of the world's pods */
	VEC_OF(struct policy_tally) cells; /* of each policy that there was when the pass began */
	VEC_OF(uint64_t) met;		   /* hashes of workloads met; none between passes */
	struct map met_index;
	struct arena arena;
	VEC_OF(struct told_pod) told;
	struct map told_index;
	int64_t asked_at;
};

struct policies {
	struct picture *picture; /* borrowed, as are these */
	struct pools *pools;
	uint64_t version;	    /* of the world, when the last pass began */
	struct policies_pass *pass; /* owned; NULL: none has begun */
};

/* policies.c: GPUPolicy status, and what people wrote that cannot be read */
void policies_step(
	struct policies *policies, struct engine_now now, uint32_t budget, struct emitter *out);
bool policies_running(const struct policies *policies); /* a pass has slices left */
void policies_finish(struct policies *policies);
struct policies_pass *policies_pass_of(struct policies *policies); /* made when first asked for */
/* What was put into the lists by itself is found from now on. */
void policies_pass_index(struct policies_pass *p);

#endif
