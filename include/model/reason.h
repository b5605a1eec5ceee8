/* Every reason that people, metrics and tests see, as one table: the enum decides, the CamelCase
 * name is shown. Sentences about pods are made by size/explain.c alone. */
#ifndef MODEL_REASON_H
#define MODEL_REASON_H

#include <stdbool.h>

enum reason {
	REASON_NONE,
	/* admission: why a pod was left whole */
	REASON_NO_GPU, /* asks for no nvidia.com/gpu */
	REASON_NO_RECOMMENDATION,
	REASON_NOT_AUTOMATED, /* mode is not Automate and no share is asked for */
	REASON_DISABLED,      /* mode Disabled */
	REASON_EXCLUDED,
	REASON_POLICY_NOT_FOUND,
	REASON_OWNER_UNKNOWN,
	REASON_BARE_POD,
	REASON_SCHEDULER, /* schedulerName outside the allow-list */
	REASON_NODE_NAME, /* nodeName set */
	REASON_STATIC_POD,
	REASON_GANG,
	REASON_PRIVILEGED,
	REASON_OWN_DEVICES, /* a person's own NVIDIA_VISIBLE_DEVICES */
	REASON_GPU_INIT_CONTAINER,
	REASON_SEVERAL_GPU_CONTAINERS,
	REASON_MIG,
	REASON_RESOURCE_CLAIMS,
	REASON_PREALLOCATES, /* PreallocatesWithoutWall */
	REASON_LIMIT_RANGE,
	REASON_BAD_VALUE,	/* an annotation that cannot be parsed */
	REASON_COUNT_MISMATCH,	/* gpu-count differs from nvidia.com/gpu */
	REASON_MULTI_GPU,	/* a share on several GPUs, not supported by the mode */
	REASON_WHOLE,		/* the share is a whole GPU */
	REASON_CONTROLLER_AWAY, /* C2: nobody would place it */
	REASON_BACKLOG,		/* C2: tenants wait too long for a reason that is ours */
	REASON_NOT_SYNCED,	/* C2: our own caches */
	REASON_CONVERTED,	/* became a tenant */
	/* placement: why a tenant waits */
	REASON_NOT_OURS,    /* gated, but `original` is missing or unreadable */
	REASON_OTHER_GATES, /* C19: someone else's gate is still there */
	REASON_NO_GPU_NODE, /* no node has a GPU that could fit */
	REASON_SHORT_COMPUTE,
	REASON_SHORT_MEMORY,
	REASON_MAX_TENANTS,
	REASON_NODE_UNFIT,	     /* CPU, memory, slots, selectors, taints */
	REASON_WAITING_FOR_CAPACITY, /* a capacity pod is being opened */
	REASON_GRANTING,
	REASON_PLACED,
	REASON_CAPACITY_FAILED, /* capacity pods do not come up on the nodes that fit */
	REASON_API_REFUSED,	/* the API server refuses our write */
	/* both; later than the others, because a journal holds numbers */
	REASON_TOO_COMPLEX,	    /* more rules about nodes than are looked at */
	REASON_BAD_AMOUNT,	    /* admission: a number of GPUs that the API server refuses */
	REASON_TOO_LARGE,	    /* admission: what we would write on the pod has no room */
	REASON_LARGER_THAN_ANY_GPU, /* placement: no GPU that it may use has so much memory */
	/* placement again */
	REASON_RUNTIME_CLASS, /* C5: the class of capacity pods goes to none of the nodes */
	REASON_OTHER_SHARING, /* C27: the nodes left have somebody else who gives out their GPUs */
	REASON_READING_VOLUMES,	 /* where its volumes are is being read */
	REASON_VOLUME_NOT_READY, /* a claim of it is missing, lost, leaving, or not bound yet */
	REASON_QUOTA,		 /* C7: a ResourceQuota has no room for the share */
	REASON_QUOTA_ZERO,	 /* admission: a ResourceQuota allows no GPU at all */
	/* why a tenant is taken down (I5), and what may come before that */
	REASON_RECYCLED,	     /* C21: the scheduler does not bind it where it was placed */
	REASON_NODE_LEAVES,	     /* C13: its node or its GPU is being taken out of service */
	REASON_PREEMPTED,	     /* C17: a tenant of a higher priority needs its share */
	REASON_CAPACITY_LOST,	     /* C11: nobody holds its GPU any more */
	REASON_PINNED_UNSCHEDULABLE, /* C21: as Recycled, and nobody would make it anew */
	REASON_WHOLE_POD_FIRST,	     /* placement, C16: what fits is kept for a whole-GPU pod */
	REASON_RESERVED,	     /* placement, C17: what fits is kept for another tenant */
	REASON_EXCLUSIVE,      /* placement: the GPUs with room have tenants whose policies, or its
				  own, keep them apart */
	REASON_SHORT_GPUS,     /* placement: no node has room on so many GPUs */
	REASON_GPU_UNHEALTHY,  /* placement: its agent says so of the GPU that would be left */
	REASON_NO_SCALE_UP,    /* placement, C14: no node came for it */
	REASON_REACQUIRING,    /* placement, C11: free GPUs are held until a lost one is found */
	REASON_MEMORY_OVERUSE, /* its use of memory is over its share; where it is evicted for it:
				  and its GPU is short */
	REASON_WITHIN_SHARE,   /* that is over */
	REASON_CONTENTION,     /* C29: a GPU had no memory left because others were over */
	REASON_NO_CONTENTION,  /* not any more */
	REASON_MPS_HELD_OFF,   /* placement: the daemon of MPS of the GPU that would be left takes
				  nobody */
	REASON_NO_INJECTION,   /* placement, C26: containers there get no GPU by its name */
	REASON_LONG_NAME,      /* admission, C26: a container that a form cannot name */
	REASON_USER_PINNED,    /* admission: its owner tells a framework how much memory to take */
	REASON_STARTS_IN_TURN, /* placement: a framework that takes memory at start starts there */
	REASON_RIGHTSIZED,     /* why a pod is taken down (I5): the next one gets the new share */
	REASON_PROVING, /* placement, C26: how containers get a GPU by its name is being tried */
	REASON_PROBE_ENDED, /* the same, but its node ends each probe */
	REASON_NEVER_SIZED, /* admission: its policy's strategy for pods of its kind is Never */
	REASON_QUEUE,	    /* admission: a queue counts the GPUs of the pod */
	REASON_RANK,	    /* admission: a rank of a parallel job, and its own annotation asks for
			       no share */
	REASON_DECLARED,    /* admission: a pod without a controller that is applied again */
	REASON_NO_SHARE_NODE, /* admission: every node it may use is of no use to a share (C34) */
	REASON_NEIGHBOURS, /* admission: what it requires of other pods is not all judged (C36) */
	REASON_GIVEN_BACK, /* C35: why a pod that waits is taken down: the next one is left whole */
	REASON_POLICY_REFUSED,	  /* placement: an admission policy refuses what we write */
	REASON_CONVERTED_REFUSED, /* admission: pods of its owner that were converted never came to
				     be */
	REASON_COUNT,
};

const char *reason_name(enum reason reason); /* CamelCase, e.g. "ShortMemory" */
/* Why a tenant waits that nobody but us can end (C2): where the whole pod would run. */
bool reason_is_ours(enum reason reason);
/* C35: where it waits so, would the pod run if it had been left whole? The same, and what a share
 * alone does not get. */
bool reason_would_run_whole(enum reason reason);
enum reason reason_parse(const char *name); /* REASON_NONE where it is no reason of ours, or NULL */

#endif
