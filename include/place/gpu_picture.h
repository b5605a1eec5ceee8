/* The picture that is looked at for a place: nodes and GPUs; and what is asked of it and answered.
 * place/place.h says how. */
#ifndef PLACE_GPU_PICTURE_H
#define PLACE_GPU_PICTURE_H

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
	VEC_OF(struct place_node) nodes;
	VEC_OF(struct place_gpu) gpus;
	VEC_OF(struct amount) others; /* names borrowed */
	VEC_OF(struct place_port) promised;
	VEC_OF(struct place_keep) keeps;
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
	int64_t quota_left_milli; /* more than that is not to be given to it (C7); 0: no bound */
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

/* Worth its while for the third request and later: making it looks at everything. */
void snapshot_index(struct snapshot *s);
/* Tells the index that a GPU was pushed at the end, or that its numbers or its node's were changed
 * by hand. */
void snapshot_gpu_moved(struct snapshot *s, uint32_t gpu);
void snapshot_node_moved(struct snapshot *s, uint32_t node);
void snapshot_clear(struct snapshot *s);
void snapshot_finish(struct snapshot *s);

#endif
