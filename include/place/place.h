/* Where a share goes. Pure: a snapshot and a request in, a verdict out; the caller reserves what it
 * takes.
 *
 * The snapshot lists nodes and GPUs. A GPU is one capacity pod: open (it may receive grants), busy
 * (a write to its ledger is under way) or opening (it will be open soon; its memory is an estimate
 * until it has told). All three can be chosen, so that what is on its way is counted and nothing is
 * opened twice; open ones first.
 *
 * Best fit: the GPU on which the least is left over; for a request that spreads, the one on which
 * the most is free. Ties fall by node and name, so the same snapshot gives the same answer
 * everywhere.
 *
 * With an index (snapshot_index) the same verdicts come without a look at every GPU. From then on
 * until snapshot_clear, GPUs and nodes change through the calls below, or are told by
 * snapshot_gpu_moved. */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/gpu.h"
#include "model/lack.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/runtime.h"
#include "model/unfit.h"
#include "model/volume.h"

struct place_node {
	const struct node *noun;	     /* borrowed */
	const struct runtime_class *runtime; /* borrowed; of capacity pods; NULL: none */
	int64_t free_cpu_milli;
	int64_t free_mem_bytes;
	int64_t free_slots;
	int64_t free_gpus;		 /* GPUs that nobody has asked for */
	int64_t gpu_mem_mib;		 /* of one GPU here, as far as labels tell; 0: unknown */
	bool no_grants;			 /* cordoned, not ready, being drained */
	bool no_opening;		 /* capacity pods failed here lately */
	const struct inject_void *voids; /* borrowed; the first of them, NULL: none */
	uint32_t kept_apart; /* the `apart` of a request whose pod must not come here; 0: none */
	enum unfit apart_by; /* and why; NONE: NEIGHBOUR */
	bool serves_dra, serves_kai; /* C27, as far as the node's own object does not tell */
	/* what is left of the node's other resources: a piece of the snapshot's `others` */
	uint32_t others_at, others_count;
	const struct host_port *ports; /* borrowed; taken by the pods that are bound here */
	size_t port_count;
	uint32_t promised; /* the first of the snapshot's `promised`, counted from 1; 0: none */
	uint32_t kept_by;  /* nobody opens a GPU here: it is kept for somebody; 0: it is not */
};

/* A host port of a pod that will run here and is not bound yet. */
struct place_port {
	struct host_port port; /* texts borrowed from the pod */
	uint32_t next;	       /* counted from 1 */
};

/* Who may be on one GPU: only those whose company is the same number. A GPU without tenants has the
 * number of its mode, one for each mode of isolation, and takes who is of that mode; one whose
 * tenants disagree takes nobody. */
#define PLACE_NOBODY	 0
#define PLACE_NOBODY_MPS (UINT64_MAX - 1)
#define PLACE_MIXED	 UINT64_MAX
static inline bool place_is_empty(uint64_t company)
{
	return company == PLACE_NOBODY || company == PLACE_NOBODY_MPS;
}
static inline uint64_t place_nobody(bool mps)
{
	return mps ? PLACE_NOBODY_MPS : PLACE_NOBODY;
}
/* What is kept for somebody, whose number is the caller's. */
struct place_keep {
	uint32_t node;
	uint32_t gpu; /* PLACE_NOWHERE: none of those that are there may be opened */
	uint32_t keeper;
	int64_t free_gpus; /* of the node, before any was taken for somebody */
};

enum gpu_state { GPU_OPEN, GPU_BUSY, GPU_OPENING };
struct place_gpu {
	uint32_t node; /* index into the snapshot's nodes */
	enum gpu_state state;
	const char *capacity_pod; /* borrowed; its name */
	int64_t usable_mib;	  /* 0: unknown yet, everything fits */
	int64_t free_milli;
	int64_t free_mib;
	uint32_t tenants;
	uint32_t max_tenants; /* the smallest of its tenants' policies */
	uint64_t company;     /* of its tenants, or its mode */
	bool mps;	      /* its mode */
	bool fenced;	      /* something is wrong with it: nobody else goes there */
	uint32_t kept_by;     /* nobody else goes there: it is kept for somebody; 0: it is not */
	bool unhealthy;	      /* that is what is wrong */
	bool held_off;	      /* its daemon of MPS takes nobody else, now */
	bool searches;	      /* or this: it was opened in search of another (C11) */
};

struct place_index;
struct snapshot {
	struct place_index *index; /* owned; NULL: there never was one */
	struct {
		VEC_FIELDS(struct place_node);
	} nodes;
	struct {
		VEC_FIELDS(struct place_gpu);
	} gpus;
	struct {
		VEC_FIELDS(struct amount); /* names borrowed */
	} others;
	struct {
		VEC_FIELDS(struct place_port);
	} promised;
	struct {
		VEC_FIELDS(struct place_keep);
	} keeps;
};

struct place_request {
	const struct pod *pod; /* borrowed: selectors, affinity, tolerations, what it takes */
	uint32_t apart;	       /* its number, for the nodes' `kept_apart`; 0: none keeps it off */
	const struct volume_claim *const *claims; /* borrowed; its volumes, all of them ready */
	uint32_t claim_count;
	int64_t milli;	 /* 0: follows from memory */
	int64_t mem_mib; /* 0: follows from milli */
	/* of what follows from the other one; 0: no bound, and MODEL_CONTEXT_MIB */
	int64_t max_milli, max_mib, context_mib;
	int64_t most_milli; /* more than that is not to be given to it (C7); 0: no bound */
	uint32_t max_tenants;
	uint64_t company;
	bool mps;    /* it goes to GPUs of that mode only */
	bool spread; /* the most free first, not the least */
};

#define PLACE_NOWHERE UINT32_MAX
struct place_verdict {
	uint32_t gpu;  /* index; PLACE_NOWHERE: none fits */
	uint32_t node; /* of the GPU, or where to open one (place_open) */
	int64_t milli; /* on that GPU */
	int64_t mem_mib;
	enum reason reason; /* why nothing fits; REASON_NONE if something does */
	enum unfit nearest; /* of the nodes that do not suit the pod, the cause that is easiest to
			       lift; NONE where that is not the reason */
	uint32_t looked_at; /* GPUs and nodes: what finding it has cost */
	/* the closest miss, for people; all zero if something fits */
	const char *best_node;
	uint32_t best_gpu; /* counts if that is about a GPU */
	int64_t best_milli;
	int64_t best_mib;
};

/* May the pod run on this node at all, GPU aside? Why not; *ret_what (NULL: not asked for) is the
 * taint, resource or claim, or NULL, and lives as long as the snapshot and the request. */
enum unfit place_unfit(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what);
/* The same of every node of the snapshot, counted; where one must be opened, beside a capacity pod.
 */
void place_survey(
	const struct snapshot *s, const struct place_request *r, struct unfit_tally *ret_tally);
/* C27: who else gives out its GPUs; UNFIT_NONE: nobody. */
enum unfit place_given_out_by(const struct place_node *n);
/* What of that does not pass with time: selectors, affinity, taints. */
bool place_node_suits(const struct pod *pod, const struct node *n);
bool place_node_selected(const struct pod *pod, const struct node *n); /* its parts */
bool place_node_tolerated(const struct pod *pod, const struct node *n);
/* The share that the request means on a GPU with so much usable memory. */
void place_share(
	const struct place_request *r, int64_t usable_mib, int64_t *ret_milli, int64_t *ret_mib);
/* Could the share ever fit a GPU of this node? */
bool place_share_possible(const struct place_node *n, const struct place_request *r);
struct place_verdict place_best_fit(const struct snapshot *s, const struct place_request *r);
/* Would it fit this GPU of this node, which need not be as the snapshot has them? The verdict has
 * the share then. */
bool place_would_fit(const struct snapshot *s, const struct place_request *r,
	const struct place_gpu *g, const struct place_node *n, struct place_verdict *ret_verdict);
/* The GPU with most free memory among those on which nothing but memory is short, which is not
 * always the one with most free compute; PLACE_NOWHERE: there is none. */
uint32_t place_most_memory(const struct snapshot *s, const struct place_request *r);
/* Every GPU that does not take it, on a node that suits the pod, counted by what is in the way. */
void place_count_lacks(
	const struct snapshot *s, const struct place_request *r, struct lack_tally *ret_tally);
/* On which node to open a GPU for it; node is PLACE_NOWHERE if on none. */
struct place_verdict place_open(const struct snapshot *s, const struct place_request *r);
/* The share is larger than every GPU of the nodes that suit the pod, whatever is free there; the
 * verdict then says so, with the largest of them. False also where no node suits it. */
bool place_never_fits(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *ret_verdict);
/* The same share on each of several GPUs of one node (group_fit.c). */
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
/* The first thing kept on the node where the party would fit otherwise; NULL: there is none. */
const struct place_keep *place_group_kept_from(
	const struct snapshot *s, const struct place_party *p);
/* One GPU's part of it, without what the pod needs beside. */
void place_reserve_share(struct snapshot *s, const struct place_request *r, uint32_t gpu,
	int64_t milli, int64_t mem_mib);
/* Takes the verdict's share out of the snapshot. */
void place_reserve(
	struct snapshot *s, const struct place_request *r, const struct place_verdict *v);

/* From now on nobody joins this GPU, or opens one on this node. Who came first keeps it. */
void place_keep_gpu(struct snapshot *s, uint32_t gpu, uint32_t keeper);
void place_keep_node(struct snapshot *s, uint32_t node, uint32_t keeper);
/* The first thing kept that the request could have otherwise; NULL: there is none. */
const struct place_keep *place_kept_from(const struct snapshot *s, const struct place_request *r);
/* A GPU that is kept, and on which it would be short of something all the same, is nearer to it
 * than any that does not suit it: the verdict, which names none, is then of the nearest of those.
 */
void place_note_kept(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *v);

/* Takes what the pod needs, GPU aside, out of the node on which it will run. */
void place_reserve_pod(struct snapshot *s, struct place_node *n, const struct pod *pod);
/* The same without CPU, memory and slot, where those are counted already. */
void place_reserve_extra(struct snapshot *s, struct place_node *n, const struct extra *x);
/* Takes what one more capacity pod of a mode needs out of a node. */
void place_reserve_capacity(struct place_node *n, bool mps);
/* The opposite: one that is there goes. */
void place_return_capacity(struct place_node *n, bool mps);

/* Worth its while for the third request and later: making it looks at everything. */
void snapshot_index(struct snapshot *s);
/* One GPU was pushed at the end, or its numbers or its node's were changed by hand. */
void snapshot_gpu_moved(struct snapshot *s, uint32_t gpu);
void snapshot_node_moved(struct snapshot *s, uint32_t node);
void snapshot_clear(struct snapshot *s);
void snapshot_finish(struct snapshot *s);

#endif
