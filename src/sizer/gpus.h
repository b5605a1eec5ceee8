/* The GPUs that pods have. */
#ifndef SIZER_GPUS_H
#define SIZER_GPUS_H

#include "base/map.h"
#include "base/vec.h"
#include "model/gpu.h"

struct gpu {
	uint64_t id;	    /* of its UUID */
	int64_t busy, next; /* what all of its pods use, of the last round and of this one */
	/* as its capacity pod told, in that round */
	uint32_t round, node;
	int64_t mem_mib;
	uint32_t first; /* of its parts in the bill */
};

struct gpus {
	struct {
		VEC_FIELDS(struct gpu);
	} list;
	struct map by_id;
};

void gpus_init(struct gpus *g);
void gpus_finish(struct gpus *g);
/* Made if need be; UINT32_MAX: none. Of a list the first. */
uint32_t gpus_at(struct gpus *g, const char *uuid);
/* A capacity pod on that node holds it, in this round. */
void gpus_hold(struct gpus *g, const struct gpu_identity *id, uint32_t node, uint32_t round);
/* One of its pods uses so much, of METERED_FULL. */
void gpus_add(struct gpus *g, uint32_t at, int64_t compute);
void gpus_settle(struct gpus *g); /* all of its pods were added */
/* Of the last round; METERED_ABSENT: not known. */
int64_t gpus_busy(const struct gpus *g, uint32_t at);

#endif
