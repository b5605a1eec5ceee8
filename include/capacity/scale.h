/* C14. Asking for nodes: where a tenant fits nowhere for some seconds, a pod that stands in for it
 * waits at the scheduler, and is what an autoscaler of nodes sees.
 *
 * Who waits is grouped by what it says of nodes; the shares of a group are packed into GPUs, and
 * for each of these, or for as many as a tenant takes of one node, one pod asks: for the GPUs, and
 * for the CPU and memory of the tenants and of their capacity pods, with the group's selectors,
 * affinity and tolerations (standin.c). A node that is there and lacks CPU or memory for the
 * tenants lacks it for that pod too; one that has the wrong label of GPU feature discovery is ruled
 * out by that label, which a new node does not have yet. Nothing is said of a node's name:
 * Karpenter looks at no pod that does (C39).
 *
 * What is bound holds its node for its tenants until one of them can open a GPU there, then goes.
 * It counts for some minutes although none can, because labels come late; then the group rests, so
 * that one need never makes a second node. As soon as fewer are needed fewer wait. After twenty
 * minutes without a node a group rests too, and its tenants are told.
 *
 * The names tell the group. Nothing here fails. */
#ifndef CAPACITY_SCALE_H
#define CAPACITY_SCALE_H

#include "base/vec.h"
#include "capacity/standin.h"
#include "ledger/nouns.h"

struct pools;

/* GPUs that are asked for in this way, in all. */
#define SCALE_MOST 64

/* One GPU that is needed, or several of one node. */
struct scale_bin {
	uint64_t key; /* of the group */
	const struct waiter
		*first; /* borrowed for the step: all of a group say the same of nodes */
	uint32_t gpus;
	int64_t milli, mem_mib; /* that are left of each */
	uint64_t company;
	uint32_t tenants, max_tenants;
	int64_t cpu_milli, mem_bytes; /* that its tenants need */
	uint32_t next;		      /* slot of the group's names */
};

struct scale {
	struct picture *picture; /* borrowed, as are these */
	struct pools *pools;
	bool answered; /* an autoscaler of nodes was seen at work: somebody listens */
	struct {
		VEC_FIELDS(struct scale_rest {
			uint64_t key;
			int64_t until;
		});
	} rests;
	/* of this step: what is needed, and since when a group's first pod waits */
	VEC_OF(struct scale_bin) bins;
	struct {
		VEC_FIELDS(struct scale_asked {
			uint64_t key;
			int64_t since;
		});
	} asked;
	VEC_OF(struct standin) standins;
	/* of this step: those that the world has; borrowed */
	VEC_OF(const struct world_pod *) there;
};

/* In the snapshot: who stands in for others is no obstacle to them. */
void scale_discount(struct scale *scale);
/* After the decisions of a step. */
void scale_up(struct scale *scale, const struct ranked *ranked, const struct wholes *wholes,
	struct emitter *out);
/* What an admission policy said to what would ask for a node for it; NULL: nothing, or it does not
 * ask. Where nobody would listen that is no reason to wait. */
const char *scale_refusal(struct scale *scale, const struct waiter *w);
/* What was asked for; not whether anybody answers. */
void scale_forget(struct scale *s);
void scale_finish(struct scale *s);

#endif
