/* Which GPUs a pod gets by evictions, and whom that costs (C17). One GPU for a share, or several of
 * one node: for a tenant that asks for a share on each of them, or a pod that asks for them whole.
 * Of one node the GPUs from which the fewest have to go, and of all nodes the one that costs least;
 * a tenant of several of them counts once. What is free, or nobody uses, is counted in. Taken one
 * by one, the cheapest next: not always the cheapest set there is. Nothing here fails. */
#ifndef SCHEDULING_PREEMPT_PLAN_H
#define SCHEDULING_PREEMPT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "scheduling/preempt_set.h"

struct preempting;
struct waiter;

/* Several GPUs. */
struct preempt_want {
	const struct place_request *request; /* its pod is asked for priority and rank */
	uint32_t count;			     /* GPUs of one node */
	bool whole;
	const char *held; /* of two that are as good the node of these GPUs, a list; or NULL */
};

/* One GPU that it could have. */
struct candidate_gpu {
	uint32_t node, gpu;
	size_t first, count; /* of the search's pods: who would have to go */
	int64_t milli, mem_mib;
	bool taken;
};

struct tenant_list {
	VEC_FIELDS(const struct world_pod *);
};

/* Scratch of one look; owned by the engine. */
struct preempt_search {
	VEC_OF(struct candidate_gpu) candidates; /* by node */
	struct tenant_list pods, chosen;
};

struct preempt_plan {
	uint32_t node;			    /* WORLD_NONE: there is none */
	uint32_t gpus[MODEL_GPU_COUNT_MAX]; /* those that are there already */
	uint32_t gpu_count;
	struct victims cost;
	const struct world_pod *first; /* to go; NULL: those who leave are enough */
};

/* A share of one GPU that is open. */
struct preempt_plan preempt_plan_one(
	struct preempting *preempting, const struct waiter *w, const struct place_request *r);
struct preempt_plan preempt_plan_several(
	struct preempting *preempting, const struct preempt_want *want);
void preempt_search_finish(struct preempt_search *s);

#endif
