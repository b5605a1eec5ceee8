/* Pods as they are kept, and how they are found. */
#ifndef WORLD_PODS_H
#define WORLD_PODS_H

#include "model/quota.h"
#include "model/reason.h"
#include "world/nodes.h"

struct world;

struct bits;
struct world_claim;

#define WORLD_NONE UINT32_MAX

/* A pod with a GPU: it asks for whole GPUs; or does, and the scheduler cannot place it; has our
 * label or gate; holds a GPU for tenants; tries how a node gives GPUs. */
enum world_class {
	WORLD_WHOLE,
	WORLD_PENDING,
	WORLD_TENANT,
	WORLD_CAPACITY,
	WORLD_PROBE,
	WORLD_CLASSES
};

/* What a pod takes of its node, GPUs apart: one for all pods that take the same, as those of one
 * template do. */
struct world_takes {
	int64_t cpu_milli;
	int64_t mem_bytes;
	const char *extra; /* interned; what else, as text; NULL: nothing */
	uint32_t pods, slot;
};

/* What a GPU pod keeps beside its packed noun, which stands behind it: the few fields that are
 * asked for all the time. There are tens of thousands: keep it small. */
struct world_gpu {
	/* tenants that were placed: on which, by whose grant, under which policy; interned, the
	 * first two are lists, as model/gpu.h says */
	const char *uuid, *capacity_pod, *policy;
	/* interned; that asks for its GPUs, or did; NULL: several do, or it is not told */
	const char *container;
	struct quota_subject subject;  /* its class interned */
	struct world_claim **claims;   /* owned list; of tenants with our gate, and pending ones */
	int64_t gpu_oom_ms, failed_ms; /* as the pod's */
	int64_t told_ms;	       /* when `told` was written; 0: there is no such condition */
	uint64_t stamp;		       /* another one whenever the object was set again */
	int64_t created_ms;
	int64_t gpus;		    /* nvidia.com/gpu it asks for */
	int64_t milli, mem_mib;	    /* of tenants that were placed: on each of its GPUs, */
	uint32_t devices;	    /* so many */
	uint32_t packed_size, slot; /* the latter of its pod */
	uint32_t claim_count;
	uint32_t restarts; /* of all its containers */
	int32_t priority;
	enum world_class class : 8;
	enum reason told : 8; /* in the condition Placed, whatever it says; NONE: nothing of ours */
	bool has_neighbours : 1; /* it keeps others off its node by anti-affinity */
	bool keeps_node : 1;	 /* C15: no autoscaler may take its node */
	bool is_kai : 1;	 /* C27: KAI's scheduler gave it its GPU */
	bool waiting_shown : 1;	 /* its condition Placed says False */
	bool overuse_shown : 1, contention_shown : 1; /* its conditions of these names say True */
	bool gated : 1;				      /* our gate is still on it */
	bool beside : 1, surged : 1;		      /* as the pod's: a surge is under way (C24) */
	bool mps : 1;				 /* a client of MPS, or the capacity pod of such */
	bool other_gates : 1, unschedulable : 1; /* the last: the scheduler could not bind it */
	bool ready : 1;				 /* its condition Ready */
	/* its framework was told what to take; as the pod's: it says more than is kept */
	bool told_memory : 1, cut : 1, lean : 1;
};

/* There are a hundred thousand: keep it small. */
struct world_pod {
	const char *ns;			 /* interned */
	const struct world_takes *takes; /* shared, counted */
	struct world_gpu *gpu;		 /* owned; NULL for every other pod */
	uint32_t node;			 /* index of its node, WORLD_NONE while unbound */
	uint32_t mark;
	uint8_t phase; /* enum pod_phase */
	bool deleting : 1;
	bool graceful : 1; /* its deletion once gave it time to end */
	uint16_t uid_at;   /* where in `text` the uid begins */
	char text[];	   /* name, NUL, uid, NUL */
};

static inline const char *world_pod_name(const struct world_pod *p)
{
	return p->text;
}
/* The uid of a pod whose noun is kept; of an ordinary pod's uid only a part is kept. */
static inline const char *world_pod_uid(const struct world_pod *p)
{
	return p->text + p->uid_at;
}
static inline bool world_pod_terminal(const struct world_pod *p)
{
	return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
}

/* Slots may be empty (NULL). */
size_t world_pod_slots(const struct world *w);
const struct world_pod *world_pod_at(const struct world *w, uint32_t slot);
const struct world_pod *world_pod_find(const struct world *w, const char *ns, const char *name);
const struct world_pod *world_pod_by_uid(
	const struct world *w, const char *uid); /* GPU pods only */
/* Slots whose GPU pod was set anew, came or left since the engine has last seen it so: what it
 * keeps of others holds. */
const struct bits *world_changed_pods(struct world *w);
void world_changes_seen(struct world *w);
size_t world_pod_count(const struct world *w);
size_t world_cut_count(const struct world *w); /* GPU pods that say more than is kept of them */
/* GPU pods of one class: a dense list, in no particular order. */
size_t world_class_count(const struct world *w, enum world_class class);
const struct world_pod *world_class_at(const struct world *w, enum world_class class, size_t i);
uint32_t world_class_slot(const struct world *w, enum world_class class, size_t i);
/* Has the pod to do with GPUs, so that its whole noun is kept? Of every other pod the world keeps
 * only namespace, name, uid, node, sums, phase and whether it is being deleted. */
bool world_keeps_noun(const struct pod *pod);

/* What a GPU pod has of all its GPUs together, in thousandths of one; 0 while it waits for a node.
 */
int64_t world_pod_milli(const struct world_pod *p);
/* The place of the first of some pods that is this slot or a later one; their count: there is none.
 */
size_t world_slots_from(const struct world_slots *all, uint32_t slot);

#endif
