/* The GPUs that pods have. */
#ifndef SUPPLY_GPU_LOAD_H
#define SUPPLY_GPU_LOAD_H

#include "base/map.h"
#include "base/vec.h"
#include "model/gpu.h"

struct gpu {
	uint64_t id;	    /* of its UUID */
	int64_t busy, next; /* what all of its pods use, of the last round and of this one */
	/* as its capacity pod told, in that round */
	uint32_t round, node;
	int64_t mem_mib;
	/* of pods that want more compute, and the least share of those that lack some: of the last
	 * round and of this one */
	uint16_t pressed, pressing;
	uint16_t least, next_least; /* 0: nobody does */
	uint32_t first;		    /* of its parts in the bill; of a free place: as gpus.unused */
	uint32_t seen;		    /* the turn in which somebody had it last */
	bool gone;		    /* this place is free */
};

struct gpus {
	VEC_OF(struct gpu) list;
	struct map by_id;
	uint32_t unused; /* the first free place and one; 0: there is none */
	uint32_t turn;	 /* gpus_settle ends one */
};

void gpus_init(struct gpus *g);
void gpus_finish(struct gpus *g);
/* The number of that GPU, of the first one of a list; made if need be; UINT32_MAX: no GPU. */
uint32_t gpus_at(struct gpus *g, const char *uuid);
/* A capacity pod on that node holds it, in this round. */
void gpus_hold(struct gpus *g, const struct gpu_identity *id, uint32_t node, uint32_t round);
/* One of its pods uses so much, of METERED_FULL. */
void gpus_add(struct gpus *g, uint32_t at, int64_t compute);
/* One of its pods wants more compute, and may get it. */
void gpus_press(struct gpus *g, uint32_t at);
/* One with that share lacks what others use, and may go elsewhere. */
void gpus_crowd(struct gpus *g, uint32_t at, int64_t milli);
/* The pod still has the GPU that gpus_at named. A GPU that no pod keeps gives up its place. */
void gpus_keep(struct gpus *g, uint32_t at);
/* All pods were added. What nobody had in this turn and the one before is forgotten. */
void gpus_settle(struct gpus *g);
/* Of the last round; METERED_ABSENT: not known. */
int64_t gpus_busy(const struct gpus *g, uint32_t at);
bool gpus_pressed(const struct gpus *g, uint32_t at); /* one did in the last round */
/* The least share of those that lacked some; 0: nobody did. */
int64_t gpus_least(const struct gpus *g, uint32_t at);

#endif
