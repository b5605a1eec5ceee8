/* Who runs on which GPU, for those who may displace somebody (C17). Gathered once a step, if
 * anybody asks; a tenant of several GPUs stands at each of them. Nothing here fails. */
#ifndef SCHEDULING_INCUMBENT_H
#define SCHEDULING_INCUMBENT_H

#include <stddef.h>

#include "base/vec.h"
#include "ledger/nouns.h"

struct contest;
struct preempting;

/* A placed tenant, on one of its GPUs. */
struct incumbent {
	uint32_t gpu;  /* of the snapshot */
	uint32_t slot; /* of the world's tenants */
	const struct world_pod *pod;
	bool leaves; /* it is deleted or evicted: it counts as gone, and is asked nothing */
};

struct incumbents {
	VEC_FIELDS(struct incumbent); /* by GPU */
};

void incumbents_gather(struct preempting *preempting);
/* Those of one GPU. */
struct incumbent_range {
	size_t first, end;
};
struct incumbent_range incumbents_of(const struct preempting *preempting, uint32_t gpu);
/* The GPU as it will be without those who leave anyway, and who of the others may go. */
void incumbents_contest(
	struct preempting *preempting, uint32_t gpu, int32_t priority, struct contest *ret);
/* Whether a GPU or a node is closed to the pod, because it is kept for somebody whom the pod must
 * not push aside. `whole`: the pod asks for whole GPUs. */
bool kept_from(const struct wholes *wholes, uint32_t keeper, const struct pod *pod, bool whole);

#endif
