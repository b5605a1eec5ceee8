/* Why a node does not suit a pod, as the scheduler's filters would find: one cause a node, the
 * first that holds in place/fit.c, which asks in this order. The order is what people are told: of
 * several nodes the cause furthest down is the nearest miss. What rules out any share, or the pod
 * itself rules out, comes first; what a pod that leaves would lift comes last. SHARED to KAI stay
 * together (unfit_is_given_out). */
#ifndef MODEL_UNFIT_H
#define MODEL_UNFIT_H

#include <stdbool.h>
#include <stdint.h>

enum unfit {
	UNFIT_NONE,
	UNFIT_RUNTIME, /* C5: the class of capacity pods does not go there */
	/* the pod chooses others */
	UNFIT_SELECTOR, /* nodeSelector, required node affinity */
	UNFIT_TAINT,
	/* C27: its GPUs are given out by somebody else */
	UNFIT_SHARED, /* time-slicing or MPS of the device plugin */
	UNFIT_MIG,    /* its device plugin gives out partitions */
	UNFIT_DRA,
	UNFIT_HAMI,
	UNFIT_KAI,
	UNFIT_VOLUME, /* a volume that is bound elsewhere */
	UNFIT_CLASS,  /* C26: containers of its RuntimeClass get no GPU there */
	/* C13: the node takes nobody now */
	UNFIT_CORDONED,
	UNFIT_NOT_READY,
	UNFIT_DRAINING,
	UNFIT_NEIGHBOUR, /* a pod that one of the two does not want near it */
	UNFIT_ALONE,	 /* none near it that the pod must be beside */
	UNFIT_SPREAD,	 /* there would be too many more of its kind near it than elsewhere */
	UNFIT_REFUSED,	 /* the scheduler refused it a pod of the workload a while ago */
	/* it has no room */
	UNFIT_PORT,
	UNFIT_RESOURCE,
	UNFIT_SLOTS,
	UNFIT_CPU,
	UNFIT_MEMORY,
	UNFIT_COUNT,
};

struct unfit_count {
	uint32_t nodes;
	const char *what; /* borrowed; the taint, resource or claim that was met first */
	uint32_t whats;	  /* 1: all that were met are that one; 2: there are others */
};

struct unfit_tally {
	uint32_t nodes; /* that do not suit it */
	struct unfit_count by[UNFIT_COUNT];
};

/* C27: nothing that the pod or the room on the node could change. */
static inline bool unfit_is_given_out(enum unfit cause)
{
	return cause >= UNFIT_SHARED && cause <= UNFIT_KAI;
}
void unfit_add(struct unfit_tally *t, enum unfit cause, const char *what);

#endif
