/* Several GPUs of one node for one pod, by evictions (C17): a tenant that asks for a share on each
 * of them, or a pod that asks for them whole. Of one node the GPUs from which the fewest have to
 * go, and of all nodes the one that costs least; a tenant of several of them counts once. What is
 * free, or nobody uses, is counted in. Taken one by one, the cheapest next: not always the
 * cheapest set there is. Nothing here fails. */
#ifndef SCHEDULING_SIEGE_H
#define SCHEDULING_SIEGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "scheduling/preempt_set.h"

struct preempting;

struct siege_want {
	const struct place_request *request; /* its pod is asked for priority and rank */
	uint32_t count;			     /* GPUs of one node */
	bool whole;
	const char *held; /* of two that are as good the node of these GPUs, a list; or NULL */
};

/* One GPU that it could have. */
struct front {
	uint32_t node, gpu;
	size_t first, count; /* of the siege's pods: who would have to go */
	int64_t milli, mem_mib;
	bool taken;
};

/* Scratch of one look; owned by the engine. */
struct siege {
	struct {
		VEC_FIELDS(struct front); /* by node */
	} fronts;
	struct {
		VEC_FIELDS(const struct world_pod *);
	} pods, chosen;
};

struct siege_plan {
	uint32_t node;			    /* WORLD_NONE: there is none */
	uint32_t gpus[MODEL_GPU_COUNT_MAX]; /* those that are there already */
	uint32_t gpu_count;
	struct victims cost;
	const struct world_pod *first; /* to go; NULL: those who leave are enough */
};

struct siege_plan siege_lay(struct preempting *preempting, const struct siege_want *want);
void siege_finish(struct siege *s);

#endif
