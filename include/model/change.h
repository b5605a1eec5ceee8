/* What a watch said, what a relist began or finished, who leads: everything that enters the engine,
 * and what the watches of recommendations, groups and of what else acts on workloads say. */
#ifndef MODEL_CHANGE_H
#define MODEL_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/budget.h"
#include "model/group.h"
#include "model/heard.h"
#include "model/node.h"
#include "model/pod.h"
#include "model/podgroup.h"
#include "model/policy.h"
#include "model/quota.h"
#include "model/recommendation.h"
#include "model/runtime.h"
#include "model/scaler.h"
#include "model/state.h"
#include "model/volume.h"

enum kind {
	KIND_POD,
	KIND_NODE,
	KIND_POLICY,
	KIND_NAMESPACE,
	KIND_LIMIT_RANGE,
	KIND_QUOTA,
	KIND_SLICE, /* watched where the API server has it; nobody waits for it */
	KIND_CLAIM, /* not watched: read for those who wait and name one */
	KIND_STATE, /* not watched: read where tenants run; its name is the node's */
	/* watched where the API server has them, and none of the engine's: what is recommended
	 * stands beside its journal */
	KIND_RECOMMENDATION,
	KIND_GROUP,
	KIND_SCALER,	    /* HorizontalPodAutoscaler */
	KIND_SCALED_OBJECT, /* of KEDA */
	KIND_BUDGET,	    /* PodDisruptionBudget */
	KIND_POD_GROUP,	    /* of scheduling.k8s.io */
	KIND_COUNT,
	KIND_ENGINE = KIND_RECOMMENDATION, /* the engine is told of the kinds before it */
	KIND_REQUIRED = KIND_SLICE, /* nothing is decided before the kinds before it were listed */
};

enum change_type {
	CHANGE_SET,  /* the object as it is now */
	CHANGE_GONE, /* ns, name and, if known, uid */
	CHANGE_KEEP, /* ns and name: it is there but could not be read; keep what is known. Without
		      * a name: something is there, nobody knows what */
	CHANGE_RELIST_BEGIN, /* mark: what is not set again before the end is gone */
	CHANGE_RELIST_END,   /* sweep; the kind is synced from here on */
	CHANGE_STALE,	     /* the watch of this kind is broken: nothing is decided from absence */
	CHANGE_FRESH,	     /* and now it is not: it resumed where it broke */
	CHANGE_LEADER,	     /* `leads` says whether this process may decide */
	CHANGE_REACH,	     /* `reached` says whether the API server reaches the webhook (C3);
				`unsure`: a policy lets nobody find out */
	CHANGE_SHARE,	     /* a tenant that runs, by `uid`, should have `milli` and `mem_mib` on
				each of its GPUs; 0: whatever it has */
	CHANGE_AVOID_GPU,    /* the GPU of that tenant, by `uid`, is not for others of its workload
			for `for_ms`, if any other takes them */
	CHANGE_HEARD,	     /* `heard` is of an event that a former leader remembers; after
				CHANGE_LEADER */
	CHANGE_RUNTIME,	     /* `runtime` is the class of capacity pods, NULL: none (C5) */
};

struct change {
	enum change_type type;
	enum kind kind;
	bool leads, reached, unsure;
	bool no_sweep; /* CHANGE_RELIST_END: something unreadable had no name, so nothing is gone */
	/* CHANGE_SET: exactly the one that `kind` names; borrowed for the call */
	const struct pod *pod;
	const struct node *node;
	const struct policy *policy;
	const struct namespace *namespace;
	const struct limit_range *limit_range;
	const struct quota *quota;
	const struct gpu_slice *slice;
	const struct volume_claim *claim;
	const struct node_state *state;
	const struct recommendation *recommendation;
	const struct workload_group *group;
	const struct scaler *scaler; /* of KIND_SCALED_OBJECT too */
	const struct budget *budget;
	const struct pod_group *pod_group;
	const struct runtime_class *runtime;
	const struct heard *heard;
	/* CHANGE_GONE */
	const char *ns;
	const char *name;
	const char *uid;	/* NULL: whatever has this name */
	int64_t milli, mem_mib; /* CHANGE_SHARE */
	int64_t for_ms;		/* CHANGE_AVOID_GPU; less than 1: no longer */
};

const char *kind_name(enum kind kind);

#endif
