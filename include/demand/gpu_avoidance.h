/* GPUs that a workload was taken away from, because its neighbours there left it too little: its
 * next pods come to others, for a while and if any takes them. A hint, and no ban: where nothing
 * else is to be had they may come back.
 *
 * And nodes that the scheduler refused after a pod of the workload was pinned there (C36). What it
 * refused for nobody here judges, so the next pod would be refused as well: that is a ban, for a
 * while.
 *
 * Both are remembered by this process alone, for one term. Nothing here fails. */
#ifndef DEMAND_GPU_AVOIDANCE_H
#define DEMAND_GPU_AVOIDANCE_H

#include "base/vec.h"
#include "ledger/nouns.h"

struct change;

/* One comes with each pod that is moved, and few are (docs/design/rolling.md#a-move), or that is
 * recycled; of more the one that would end first makes way. */
#define AVOIDANCES_MAX 256

struct gpu_avoidance {
	uint64_t workload; /* company_workload's */
	char *what;	   /* owned; a GPU's UUID, or */
	bool is_node;	   /* a node's name */
	int64_t until;
};

struct gpu_avoidances {
	struct picture *picture; /* borrowed, as are these */
	const struct companies *companies;
	VEC_OF(struct gpu_avoidance) items;
	/* of the look that is made: places in the snapshot */
	VEC_OF(uint32_t) hidden;
};

void avoidances_finish(struct gpu_avoidances *all); /* it is empty then, and may be used on */
/* CHANGE_AVOID_GPU */
void avoidance_wanted(struct gpu_avoidances *avoidances, const struct change *c);
/* Takes them out of the picture for that waiter; true: there were any, and avoided_gpus_show is to
 * be called. */
bool avoided_gpus_hide(struct gpu_avoidances *all, const struct waiter *w);
void avoided_gpus_show(struct gpu_avoidances *avoidances);
/* The scheduler has refused the node to that pod, which a controller makes anew. */
void avoidance_of_node(
	struct gpu_avoidances *avoidances, const struct pod *pod, const char *node, int64_t for_ms);

#endif
