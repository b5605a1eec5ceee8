/* What is remembered of workloads, their containers and their pods. A workload lives as long as
 * anything names it: pods, a GPURecommendation, or a history that is worth keeping. */
#ifndef TRACKING_TRACKING_H
#define TRACKING_TRACKING_H

#include <assert.h>

#include "base/clock.h"
#include "base/slab.h"
#include "base/table.h"
#include "history/history.h"
#include "model/recommendation.h"
#include "right/hold.h"
#include "tracking/bill_groups.h"
#include "tracking/heal_record.h"
#include "tracking/pools.h"
#include "tracking/sizer_config.h"
#include "tracking/small.h"
#include "tracking/tally.h"
#include "tracking/write_pace.h"
#include "world/world.h"

/* One container of one workload. There is one of each, at least: keep it small. */
struct sized_container {
	struct history *history;   /* owned */
	struct share in_force;	   /* the target of the next pod; 0: nothing is known */
	struct small_share told;   /* the target that the GPURecommendation shows */
	struct small_share asked;  /* the target that the write under way shows */
	struct small_share before; /* of the pod replaced last; 0: whole, or none was replaced */
	int64_t seen_ms;	   /* when a pod last had this container */
	char *refused;		   /* owned; why the checkpoint was not used, for an event */
	struct checkpoint_state save;
	struct pod_tally tally;
	/* what the last decision found */
	struct kept_history facts;
	struct kept_recommendation answer;
	struct hold_part held_compute, held_memory;
	struct heal_record *heal; /* owned; heal_record.h; NULL: nothing is remembered */
	uint32_t feeds;		  /* the feeds of pods that name it */
	bool converted;		  /* the target is a share of a GPU, and it is applied */
	bool fitted;		  /* the history has the policy's window */
	bool fills;	/* the frameworks of the last pods were told their share of memory */
	bool heal_read; /* what the GPURecommendation says of healing was read */
	char name[];
};

/* What the status that is being written says. */
struct pending_status {
	uint64_t urgent, all;
	struct condition_times said;
	int64_t revision;
};

enum sized_write { SIZED_STATUS, SIZED_CREATE, SIZED_DELETE };

struct sized_workload {
	struct table_row row; /* its namespace, and the name of its GPURecommendation */
	/* the texts are the sizer's names, but for its own name, which stands in `names` */
	struct workload_key key;
	VEC_OF(struct sized_container *) containers;
	struct sized_pod *members;	/* the known pods, by `next`, in no order; NULL: none */
	const struct sized_pod *newest; /* the pod by which the policy is chosen; NULL: none */
	int64_t seen_ms;
	uint64_t gathered; /* a hash of the name of its group; 0: of none */
	/* in this round: tenants by what became of their resizing, and one that fares worst */
	const struct sized_pod *worst; /* NULL: nothing keeps a tenant from its target */
	uint32_t resizes[SHARE_STATES];
	uint32_t pods;	/* the number of known pods */
	uint32_t round; /* the round in which the tallies began */
	int32_t retention_s;
	int32_t device_mib;  /* the most memory that a share can have; 0: not known */
	uint32_t vain_s;     /* pods have waited in vain since then; 0: none does */
	struct surge *surge; /* borrowed; rollouts/surges.h; NULL: no surge is under way */
	uint64_t exclusive;  /* the hash of a template that has a volume for one pod alone */
	struct rollout_record
		*roll; /* owned; rollouts/roll_record.h; NULL: no replacement is remembered */
	int64_t shown; /* the revision that the watch showed last */
	/* the GPURecommendation as it is */
	char *uid; /* owned; NULL: there is no GPURecommendation */
	int64_t generation, revision;
	uint64_t urgent, all; /* digests of its status */
	const char *policy;   /* the policy that it names; one of the sizer's names */
	struct heal_workload heal;
	struct bill_cost bill;
	struct condition_times said;
	/* one write at a time */
	uint64_t action;	     /* the write under way; 0: none */
	struct pending_status *want; /* owned; the status that is being written; NULL: none */
	int64_t wrote_ms, retry_ms;  /* monotonic */
	uint8_t failures;
	uint8_t writes; /* enum sized_write */
	uint8_t type;	/* enum workload_type */
	/* what was decided last */
	uint8_t mode;	/* enum policy_mode */
	uint8_t source; /* enum policy_source */
	bool decided : 1, excluded : 1;
	bool keeps_compute : 1; /* somebody scales it on compute (U14) */
	bool acts : 1;		/* running tenants get the target where they are */
	bool keeps_running : 1; /* running tenants never get less than they have */
	bool idle : 1;		/* its pods have computed nothing for long */
	bool heals : 1; /* a pod lacks something that cannot wait: healing sets it at each look */
	bool strange : 1, past_known : 1; /* its kind is unknown; its past was asked for */
	bool owned : 1;			  /* the GPURecommendation is deleted with the workload */
	bool holds : 1, waits : 1; /* its targets may be applied; a write waits for its turn */
	/* a pod has several GPUs, or several containers with a GPU, or waits in vain (C35) */
	bool multi : 1, parted : 1, vain : 1;
	char names[]; /* of its GPURecommendation, and its own */
};

/* What is remembered of one container of one pod between two figures. */
struct sized_feed {
	struct sized_container *container; /* borrowed */
	struct history_feed feed;
	union pool_feed memory;
	struct heal_feed heal;
};

/* There are many: keep it small. */
struct sized_pod {
	struct sized_workload *of;	   /* borrowed */
	struct sized_pod *next, *previous; /* pods of the same workload */
	struct sized_feed *feeds;	   /* owned, unless it is `only`, as for most pods */
	struct sized_feed only;
	int64_t created_ms;
	int64_t ready_ms; /* policy time since which it was seen Ready; 0: it is not Ready */
	uint64_t set;	  /* a hash of its controller's uid, in a group of its owner; 0: none */
	struct heal_pod heal;
	struct bill_pod bill;
	struct small_share requested; /* the share that the engine was asked for; 0: none */
	uint32_t slot, round;	      /* the place in the table; the round that saw it last */
	uint32_t groups_version;      /* the groups by which it was given to its workload */
	char uid[SIZER_UID_MAX + 1];
	uint8_t feed_count;
	uint8_t resize_status;	    /* enum share_state: what became of `requested` */
	bool whole : 1, parted : 1; /* parted: several of its containers have GPUs */
	bool ahead : 1;		    /* its image takes memory ahead of need */
	bool seen : 1;		    /* healing_see had it before */
	bool advised : 1;	    /* its share was recommended */
	bool told_memory : 1;	    /* its framework was told what to take */
	bool mps : 1;		    /* a tenant that MPS holds to its share */
	bool changes : 1;	    /* a tenant that can be changed while it runs */
	bool stuck : 1; /* its GPU has no room for its target: only another pod could have it */
	bool alike : 1; /* its owner never changes its template */
	bool memory_stays : 1;	/* its memory cannot change: its framework took it at the start */
	bool irretrievable : 1; /* in a group: its work would be lost, or nobody makes it anew */
};

/* A workload with one container and four pods is to take no more than 4 KiB, its history included
 * (hack/bench rightsize). Who needs more here has to give it back elsewhere. */
static_assert(sizeof(struct sized_pod) <= 288, "a pod has become larger");
static_assert(sizeof(struct sized_container) <= 328, "a container has become larger");
static_assert(sizeof(struct sized_workload) <= 416, "a workload has become larger");

/* All that is known: workloads, their pods, and what all rooms above write and ask for with them.
 */
struct tracking {
	struct sizer_config config;
	struct intern *names;	/* owned; texts that many have: namespaces, kinds, policies */
	struct table workloads; /* by namespace and name of the GPURecommendation */
	struct slab records;	/* of pods */
	VEC_OF(struct sized_pod *) pods;
	struct map by_uid;
	uint32_t round;	 /* the rounds that began */
	uint64_t rounds; /* and those that ended */
	bool ending;	 /* the process is about to end: nothing new begins */
	struct bill_groups labels;
	struct write_pace pace;
	VEC_OF(struct resize_request) requests; /* of this step, for the engine */
	struct arena scratch;
};

static inline struct sized_workload *workload_at(const struct tracking *s, size_t i)
{
	return (struct sized_workload *)s->workloads.rows.items[i];
}

#endif
