/* Everything that leaves the engine: the actions of one step, and what became of each (outcome). */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/vec.h"
#include "model/checkpoint.h"
#include "model/gpu.h"
#include "model/injection.h"
#include "model/pod.h"
#include "model/reason.h"
#include "model/recommendation.h"
#include "model/standing.h"
#include "model/surge.h"

enum action_type {
	ACTION_CREATE_CAPACITY,	      /* POST a capacity pod */
	ACTION_DELETE_CAPACITY,	      /* DELETE with preconditions uid and resourceVersion */
	ACTION_GRANT,		      /* PATCH the ledger of a capacity pod: the compare-and-swap */
	ACTION_PLACE,		      /* PATCH a tenant: guarded keys, pin, gate off */
	ACTION_RESIZE,		      /* PATCH a tenant that runs: how much of its GPU is its own */
	ACTION_CONDITION,	      /* PATCH pods/status: aliquot.dev/Placed */
	ACTION_POLICY_STATUS,	      /* PATCH gpupolicies/status */
	ACTION_EVICT,		      /* POST an Eviction of a tenant (I5) */
	ACTION_READ_JOB,	      /* GET a Job: does it count an evicted pod as failed? (C21) */
	ACTION_READ_OWNER,	      /* GET the owner of a workload: how does it stand? */
	ACTION_CREATE_RECOMMENDATION, /* POST a GPURecommendation, after its owner was read */
	ACTION_RECOMMENDATION_STATUS, /* apply its status */
	ACTION_DELETE_RECOMMENDATION, /* DELETE one without an owner, with precondition uid */
	ACTION_CHECKPOINT, /* apply the status of a GPUUsageCheckpoint, which may have to be made */
	ACTION_SURGE,	   /* one task of a surge: a write of a pod, or reads (C24, C25) */
	ACTION_EVENT,	   /* POST an event; shed first */
};

/* One flat struct; which fields count is said beside them. All text lives in the plan's arena. */
struct action {
	uint64_t id; /* unique in this process; engine_settle names it */
	enum action_type type;
	/* the object: CREATE, DELETE, GRANT, PLACE, CONDITION, EVENT, EVICT, READ_JOB;
	 * POLICY_STATUS uses name. EVICT without a version: whatever has become of the pod
	 * meanwhile */
	const char *ns;
	const char *name;
	const char *uid;
	const char *resource_version;
	/* CREATE_CAPACITY: pinned to this node, or "" */
	const char *node; /* PLACE too */
	const char *runtime_class;
	struct toleration *tolerations;
	uint32_t toleration_count;
	/* CREATE_CAPACITY that is not pinned (C14): where it may go */
	struct pairs where_labels;
	struct node_term *where_terms; /* OR */
	uint32_t where_count;
	bool unpinned;
	/* CREATE_, DELETE_CAPACITY: it runs the daemon of MPS. PLACE: the tenant is its client */
	bool mps;
	/* CREATE_CAPACITY: no capacity pod but what stands in for tenants: it asks for so much, and
	 * goes where the labels and terms above say. DELETE_CAPACITY: such a one, whatever its
	 * version */
	bool companion;
	int64_t cpu_milli, mem_bytes, gpus;
	/* CREATE_CAPACITY: no capacity pod but a probe that tries this, and belongs to the one in
	 * `capacity_pod`, whose uid is `uid`. DELETE_CAPACITY: such a one. GRANT: what is proven of
	 * its node, to be written with it; NULL: as it is */
	const struct inject_claim *claim;
	/* GRANT: the whole new ledger */
	struct ledger ledger;
	/* GRANT: tenants that it strikes out although their pods are there. Each is asked for
	 * first, and one that does not wait any more makes it a conflict: a watch may be late */
	struct ledger still;
	bool keeps_node; /* C15: no autoscaler may take the node of its tenants */
	bool movable; /* GRANT: the budget holds it no more, for it waits for its tenants (C39) */
	/* PLACE */
	enum inject_form form; /* in which it is told the GPUs */
	const char *container; /* that has them; NULL: not known */
	const char *uuid;
	const char *capacity_pod;
	int64_t milli;
	int64_t mem_mib;
	int32_t framework_memory; /* thousandths that its framework is told; 0: it is told none */
	const char *policy; /* NAME@GENERATION under which it was given; NULL: there is none */
	/* the pod's own required OR terms count: every one must get the pin */
	uint32_t node_term_count;
	const char **gates; /* those that stay: none, C19 */
	uint32_t gate_count;
	const char *condition; /* CONDITION: its type; NULL: aliquot.dev/Placed */
	/* CONDITION, EVENT, POLICY_STATUS; EVICT has a reason */
	bool is_true;
	enum reason reason;
	const char *event_reason; /* EVENT: CamelCase; NULL: the reason's name */
	const char *message;
	bool warning;
	/* EVENT: what it is about */
	const char *regarding_kind; /* "Pod", "GPUPolicy" */
	const char *regarding_api_version;
	/* POLICY_STATUS */
	int64_t generation;
	int32_t matched, automated;
	bool overlapping;
	int64_t accepted_ms, overlapping_ms, ready_ms; /* since when it is so; 0: from now on */
	/* CREATE_RECOMMENDATION, RECOMMENDATION_STATUS */
	const struct recommendation *recommendation;
	/* CHECKPOINT: it goes with the GPURecommendation of that uid */
	const struct checkpoint *checkpoint;
	bool makes;
	const char *owner_uid;
	/* CREATE_RECOMMENDATION: with whom it goes; api_version NULL: nobody. Without a uid it is
	 * read first. READ_OWNER: who is read, its api_version by standing_api_version; ns and name
	 * are its own too */
	struct owner owner;
	/* SURGE */
	const struct surge_order *surge;
};

struct plan {
	struct arena arena;
	VEC_OF(struct action) actions;
	bool unfinished; /* the budget ran out: step again */
};

void plan_reset(struct plan *p);
void plan_finish(struct plan *p);
struct action *plan_add(struct plan *p, enum action_type type, uint64_t id);
const char *action_type_name(enum action_type type);
const char *action_name(const struct action *a); /* the same, and probes by a name of their own */

/* What became of an action. `fault.kind` FAULT_NONE: it was done. `pod`: the object as the API
 * server answered (CREATE, GRANT, PLACE), NULL if the answer had none. */
struct outcome {
	struct fault fault;
	const struct pod *pod;		 /* borrowed */
	bool spares;			 /* READ_JOB that was done: an evicted pod is no failure */
	const struct standing *standing; /* READ_OWNER that was done; borrowed */
	const struct checkpoint *found;	 /* CHECKPOINT that was there; borrowed; else NULL */
	bool exists;			 /* CHECKPOINT that was to be made; so it was not */
	const struct surge_seen *seen;	 /* SURGE that was done and reads; borrowed; else NULL */
};

#endif
