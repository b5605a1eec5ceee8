/* Where a share goes. Pure: a snapshot and a request in, a verdict out; the caller reserves what it
 * takes.
 *
 * The snapshot lists nodes and GPUs. A GPU is one capacity pod: open (it may receive grants), busy
 * (a write to its ledger is under way) or opening (it will be open soon; its memory is an estimate
 * until it has told). All three can be chosen, so that what is on its way is counted and nothing is
 * opened twice; open ones first.
 *
 * Best fit: the GPU on which the least is left over. Ties fall by node and name, so the same
 * snapshot gives the same answer everywhere. */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/gpu.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/reason.h"

struct place_node {
	const struct node *noun; /* borrowed */
	int64_t free_cpu_milli;
	int64_t free_mem_bytes;
	int64_t free_slots;
	int64_t free_gpus;   /* GPUs that nobody has asked for */
	int64_t gpu_mem_mib; /* of one GPU here, as far as labels tell; 0: unknown */
	bool no_grants;	     /* cordoned, not ready, being drained */
	bool no_opening;     /* capacity pods failed here lately */
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
	bool fenced;	      /* something is wrong with it: nobody else goes there */
};

struct snapshot {
	struct {
		VEC_FIELDS(struct place_node);
	} nodes;
	struct {
		VEC_FIELDS(struct place_gpu);
	} gpus;
};

struct place_request {
	const struct pod *pod; /* borrowed: selectors, affinity, tolerations, CPU and memory */
	int64_t milli;	       /* 0: follows from memory */
	int64_t mem_mib;       /* 0: follows from milli */
	uint32_t max_tenants;
};

#define PLACE_NOWHERE UINT32_MAX

struct place_verdict {
	uint32_t gpu;  /* index; PLACE_NOWHERE: none fits */
	uint32_t node; /* of the GPU, or where to open one (place_open) */
	int64_t milli; /* on that GPU */
	int64_t mem_mib;
	enum reason reason; /* why nothing fits; REASON_NONE if something does */
	/* the closest miss, for people */
	const char *best_node;
	int64_t best_milli;
	int64_t best_mib;
};

/* May the pod run on this node at all, GPU aside? REASON_NONE or REASON_NODE_UNFIT. */
enum reason place_node_fits(const struct pod *pod, const struct place_node *n);
/* What of that does not pass with time: selectors, affinity, taints. */
bool place_node_suits(const struct pod *pod, const struct node *n);
/* The share that the request means on a GPU with so much usable memory. */
void place_share(
	const struct place_request *r, int64_t usable_mib, int64_t *ret_milli, int64_t *ret_mib);
struct place_verdict place_best_fit(const struct snapshot *s, const struct place_request *r);
/* On which node to open a GPU for it; node is PLACE_NOWHERE if on none. */
struct place_verdict place_open(const struct snapshot *s, const struct place_request *r);
/* The share is larger than every GPU of the nodes that suit the pod, whatever is free there; the
 * verdict then says so, with the largest of them. False also where no node suits it. */
bool place_never_fits(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *ret_verdict);
/* Takes the verdict's share out of the snapshot. */
void place_reserve(
	struct snapshot *s, const struct place_request *r, const struct place_verdict *v);

/* Takes what one more capacity pod needs out of a node. */
void place_reserve_capacity(struct place_node *n);

void snapshot_clear(struct snapshot *s);
void snapshot_finish(struct snapshot *s);

#endif
