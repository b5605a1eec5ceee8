/* The memory of the cluster: what the watches have said so far, indexed.
 *
 * It is told changes and never decides anything. Every pod is kept as one small record (who, where,
 * how much CPU and memory), because the sums per node must be right; a pod that asks for a GPU,
 * holds one or shares one also keeps its whole noun as packed bytes, unpacked when a decision needs
 * it.
 *
 * Relists mark and sweep: between CHANGE_RELIST_BEGIN and _END of a kind, what is set is marked; at
 * the end what is not marked is gone, exactly as if its deletion had been seen. A relist that never
 * ends sweeps nothing.
 *
 * Ownership: everything returned is borrowed and valid until the next world_apply. Across turns
 * hold a key (namespace and name, or uid), never a pointer. Nothing here fails: a change that names
 * nothing known is no change. */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "model/change.h"
#include "model/reason.h"
#include "world/departed.h"
#include "world/slots.h"
#include "world/takes.h"

#define WORLD_NONE UINT32_MAX

/* Whole GPUs; those that the scheduler cannot place; our label or gate; holds one for us; tries how
 * a node gives GPUs. */
enum world_class {
	WORLD_WHOLE,
	WORLD_PENDING,
	WORLD_TENANT,
	WORLD_CAPACITY,
	WORLD_PROBE,
	WORLD_CLASSES
};

/* What a GPU pod keeps beside its packed noun, which stands behind it: the few fields that are
 * asked for all the time. There are tens of thousands: keep it small. */
struct world_gpu {
	/* tenants that were placed: on which, by whose grant, under which policy; interned, the
	 * first two are lists, as model/gpu.h says */
	const char *uuid, *capacity_pod, *policy;
	/* interned; that asks for its GPUs, or did; NULL: several do, or it is not told */
	const char *container;
	const char *priority_class;    /* interned; what the scopes of quotas ask for */
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
	bool has_deadline : 1, best_effort : 1, crosses_namespaces : 1; /* for quotas */
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
/* Of a pod with a noun; what is kept of an ordinary pod's is not it. */
static inline const char *world_pod_uid(const struct world_pod *p)
{
	return p->text + p->uid_at;
}
static inline bool world_pod_terminal(const struct world_pod *p)
{
	return p->phase == POD_SUCCEEDED || p->phase == POD_FAILED;
}

/* What pods take of a node beside CPU, memory, slots and GPUs; in no particular order. */
struct world_uses {
	struct {
		VEC_FIELDS(struct amount); /* names are interned, each once */
	} amounts;
	struct {
		VEC_FIELDS(struct host_port); /* texts are interned */
	} ports;
};

struct world_node {
	struct arena arena; /* of `noun` */
	const char *name;   /* interned; outlives the noun, since pods may name a node before it is
			       seen */
	bool known;	    /* the Node object exists; `noun` is valid */
	struct node noun;
	uint32_t mark;
	/* sums over the pods bound here that are not terminal */
	int64_t cpu_milli;
	int64_t mem_bytes;
	int64_t gpus; /* whole GPUs asked for, capacity pods included */
	uint32_t pods;
	uint32_t dra_slices; /* C27: ResourceSlices with GPUs of this node */
	uint32_t kai_pods;   /* GPU pods here that KAI's scheduler or its reservations brought */
	uint32_t sharers;    /* tenants and capacity pods here */
	uint32_t leavers;    /* tenants that are gone and may run here all the same */
	struct world_state *state; /* owned; what its agent told last; NULL: nothing */
	struct world_uses uses;
	struct world_slots tenants; /* bound here, ended ones too */
	uint64_t stamp;		    /* the world_nodes_version that it changed with */
};

struct world_claim {
	const char *ns, *name; /* interned */
	uint32_t tenants;      /* and pending pods that name it */
	struct arena arena;    /* of `noun` */
	struct volume_claim noun;
};

struct world_policy {
	struct arena arena;
	struct policy noun;
	uint32_t mark;
};

/* C7. A ResourceQuota that bounds GPUs, and what of it the pods take that it covers and that have
 * not ended. */
struct world_quota {
	struct arena arena;
	struct quota noun;
	uint32_t mark;
	uint32_t at;	       /* its place among all of them */
	int64_t whole_gpus;    /* of pods that ask for whole ones */
	int64_t granted_milli; /* of tenants that show their share */
};

struct world_namespace {
	struct arena arena;
	struct namespace noun;
	uint32_t mark;
	uint32_t gpu_limits; /* LimitRanges here that limit nvidia.com/gpu */
	struct {
		VEC_FIELDS(struct world_quota *);
	} quotas; /* those here that bound GPUs */
	bool known;
};

struct world;

struct world *world_create(void);
void world_destroy(struct world *w);
/* False: an object larger than anything an API server hands out, which must not be applied. */
bool world_takes(struct world *w, const struct change *c);
void world_apply(struct world *w, const struct change *c);

/* A list of this kind was complete once, and its watch is not broken now. */
bool world_synced(const struct world *w, enum kind kind);
bool world_all_synced(const struct world *w);
/* Something nameless is there that was never read: what is absent here need not be gone. Also
 * while a relist is on its way, for what it tells first may name what it tells last. */
bool world_blind(const struct world *w, enum kind kind);
/* Whether a pod of that name may be there unread; no name, no namespace: any of them. */
bool world_pod_unread(const struct world *w, const char *ns, const char *name);
/* Grows with every change that could matter to a decision. */
uint64_t world_version(const struct world *w);
/* Grows when a node is told anew, goes, or somebody else begins or ends to give out its GPUs. */
uint64_t world_nodes_version(const struct world *w);
/* Grows with every change that could matter to policy resolution or its counts. */
uint64_t world_policy_version(const struct world *w);

/* Slots may be empty (NULL). */
size_t world_pod_slots(const struct world *w);
const struct world_pod *world_pod_at(const struct world *w, uint32_t slot);
const struct world_pod *world_pod_find(const struct world *w, const char *ns, const char *name);
const struct world_pod *world_pod_by_uid(
	const struct world *w, const char *uid); /* GPU pods only */
size_t world_pod_count(const struct world *w);
size_t world_cut_count(const struct world *w); /* GPU pods that say more than is kept of them */
bool world_pod_unpack(const struct world_pod *p, struct arena *a, struct pod *ret_pod);

/* GPU pods of one class: a dense list, in no particular order. */
size_t world_class_count(const struct world *w, enum world_class class);
const struct world_pod *world_class_at(const struct world *w, enum world_class class, size_t i);
uint32_t world_class_slot(const struct world *w, enum world_class class, size_t i);
size_t world_node_slots(const struct world *w);
/* Never NULL; check `known`. And WORLD_NONE if never heard of. */
const struct world_node *world_node_at(const struct world *w, uint32_t i);
uint32_t world_node_find(const struct world *w, const char *name);

/* Every policy, in no particular order. */
const struct policy *const *world_policies(const struct world *w, uint32_t *ret_count);
const struct policy *world_policy_find(const struct world *w, const char *name);

const struct world_namespace *world_namespace_find(const struct world *w, const char *name);
/* Quotas that bound GPUs, in no particular order; those of a namespace stand there. */
size_t world_quota_count(const struct world *w);
const struct world_quota *world_quota_at(const struct world *w, size_t i);
/* A GPU pod of the quota's namespace. */
bool world_quota_covers(const struct world_quota *q, const struct world_pod *p);
/* The name of one that covers the pod, which need not be known here, and allows no GPU; or NULL. */
const char *world_zero_quota(const struct world *w, const struct pod *pod);

/* Claims that some tenant with our gate or pending pod names, in no particular order; CLAIM_UNREAD
 * until a change told more. Who reads them watches the version, which grows when one is named for
 * the first time or by nobody any more. */
size_t world_claim_count(const struct world *w);
const struct volume_claim *world_claim_at(const struct world *w, size_t i);
const struct volume_claim *world_claim_find(
	const struct world *w, const char *ns, const char *name); /* NULL: nobody names it */
uint64_t world_claims_version(const struct world *w);

/* Has it to do with GPUs, so that its whole noun is kept? Of every other pod only namespace, name,
 * uid, node, sums, phase and whether it is being deleted. */
bool world_keeps_noun(const struct pod *pod);

/* The changes that make an empty world into this one, for the call; `tell` changes nothing. */
typedef void (*world_tell)(void *data, const struct change *change);
void world_save(const struct world *w, world_tell tell, void *data);

/* For tests: recomputes every sum and index. NULL when all agree, else what does not. */
const char *world_check(const struct world *w);

#endif
