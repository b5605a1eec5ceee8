/* What the parts of the sizer share. A workload lives as long as anything names it: pods, a
 * GPURecommendation, or a history that is worth keeping. */
#ifndef SIZER_STATE_H
#define SIZER_STATE_H

#include <assert.h>

#include "base/clock.h"
#include "base/slab.h"
#include "history/history.h"
#include "model/recommendation.h"
#include "owner/strangers.h"
#include "right/hold.h"
#include "right/recommend.h"
#include "roll/roll.h"
#include "size/policy_resolution.h"
#include "sizer/sizer.h"

#include "bills.h"
#include "gathers.h"
#include "gpus.h"
#include "heals.h"
#include "others.h"
#include "pools.h"
#include "rooms.h"
#include "small.h"
#include "table.h"
#include "tally.h"
#include "write.h"

/* One container of one workload. There is one of each, at least: keep it small. */
struct sized_container {
	struct history *history;   /* owned */
	struct share in_force;	   /* of the next pod; 0: nothing is known */
	struct small_share told;   /* the target that the GPURecommendation shows */
	struct small_share asked;  /* that the write under way shows */
	struct small_share before; /* of the pod replaced last; 0: it was whole, or none was */
	int64_t seen_ms;	   /* a pod had it last */
	char *refused;		   /* owned; why its checkpoint was not used, to be told */
	struct sized_save save;
	struct sized_tally tally;
	/* of the last decision */
	struct sized_facts facts;
	struct sized_answer answer;
	struct sized_held held;
	struct sized_heal *heal; /* owned; heals.h; NULL: nothing is remembered */
	uint32_t feeds;		 /* of pods */
	/* a share that was applied as one; its history has the policy's window; those that ran last
	 * were told their share of memory; what is told of healing was read */
	bool converted, fitted, fills, heal_read;
	char name[];
};

/* What a status under way says. */
struct sized_want {
	uint64_t urgent, all;
	struct sized_said said;
	int64_t revision;
};

enum sized_write { SIZED_STATUS, SIZED_CREATE, SIZED_DELETE };

struct sized {
	/* of the sizer's names, but for its name, which stands behind `object` */
	struct workload_key key;
	char *object; /* owned; the name of its GPURecommendation */
	struct {
		VEC_FIELDS(struct sized_container *);
	} containers;
	struct sized_pod *members;	/* that are known, by `next`, in no order; NULL: none */
	const struct sized_pod *newest; /* by which its policy is chosen; NULL: none */
	int64_t seen_ms;
	uint64_t gathered; /* a hash of the name of its group; 0: of none */
	/* of this round: tenants by what became of their wish, and one of the worst */
	const struct sized_pod *worst; /* NULL: none is kept from it */
	uint32_t fates[SHARE_STATES];
	uint32_t slot, mark; /* in the table; of the relist */
	uint32_t pods;	     /* that are known */
	uint32_t round;	     /* of the tallies */
	int32_t retention_s;
	enum workload_type type;
	int32_t device_mib;	 /* the most that a share of it can have; 0: not known */
	struct surge *surge;	 /* borrowed; surges.h; NULL: none is under way */
	uint64_t exclusive;	 /* a hash of a template's: one of its volumes is for one pod */
	struct sized_roll *roll; /* owned; rolls.h; NULL: nothing of replacements is remembered */
	int64_t shown;		 /* the revision that the watch showed last */
	/* the GPURecommendation as it is */
	char *uid; /* owned; NULL: there is none */
	int64_t generation, revision;
	uint64_t urgent, all; /* digests of its status */
	const char *policy;   /* of the sizer's names; that it names */
	struct heal_workload heal;
	struct bill_cost bill;
	struct sized_said said;
	/* one write at a time */
	uint64_t action;	    /* 0: none is under way */
	struct sized_want *want;    /* owned; of a status, NULL: none is under way */
	int64_t wrote_ms, retry_ms; /* monotonic */
	int32_t failures;
	uint8_t writes; /* enum sized_write */
	/* of the last decision */
	uint8_t mode;	/* enum policy_mode */
	uint8_t source; /* enum policy_source */
	bool decided : 1, excluded : 1;
	bool keeps_compute : 1; /* somebody scales it on compute (U14) */
	bool acts : 1;		/* running tenants get the target where they are, */
	bool keeps_running : 1; /* but never less than they have */
	bool idle : 1;		/* nothing was computed for long */
	bool heals : 1; /* what a pod lacks cannot wait: set by whoever heals, at each look */
	bool strange : 1, past_known : 1; /* of an unknown kind; its past was asked for */
	bool owned : 1;			  /* by what it is about, with which it goes */
	bool holds : 1, waits : 1; /* its targets may be applied; a write waits for its turn */
	bool multi : 1, parted : 1, vain : 1; /* of a pod: GPUs; containers with one; its wait */
	uint32_t vain_s;		      /* C35: some do since then; 0: none */
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
	struct sized *of;		   /* borrowed */
	struct sized_pod *next, *previous; /* of the same workload */
	struct sized_feed *feeds;	   /* owned, but for `only`, which most have */
	struct sized_feed only;
	int64_t created_ms;
	int64_t ready_ms; /* seen Ready since, policy time; 0: it is not */
	uint64_t set;	  /* a hash of its controller's uid, in a group of its owner; 0: none */
	struct heal_pod heal;
	struct bill_pod bill;
	struct small_share wished; /* the engine was asked for that; 0: for nothing */
	uint32_t slot, round;	   /* in the table; in which it was seen last */
	uint32_t groups_version;   /* by which it was given to its workload */
	char uid[SIZER_UID_MAX + 1];
	uint8_t feed_count;
	uint8_t fate;		    /* enum share_state: what became of the wish */
	bool whole : 1, parted : 1; /* parted: several of its containers have GPUs */
	bool ahead : 1;		    /* its image takes memory ahead of need */
	bool seen : 1;		    /* heals_see had it before */
	bool advised : 1;	    /* its share was recommended */
	bool told_memory : 1;	    /* its framework was told what to take */
	bool mps : 1;		    /* a tenant that MPS holds to its share */
	bool changes : 1;	    /* a tenant that can be changed while it runs */
	bool stuck : 1;		    /* no room for it where it is: another pod would have to be */
	bool alike : 1;		    /* its owner never changes its template */
	bool memory_stays : 1;	    /* so for its memory: its framework took that at the start */
	bool irretrievable : 1; /* in a group: its work would be lost, or nobody makes it anew */
};

/* A workload with one container and four pods is to take no more than 4 KiB, its history included
 * (hack/bench rightsize). Who needs more here has to give it back elsewhere. */
static_assert(sizeof(struct sized_pod) <= 288, "a pod has become larger");
static_assert(sizeof(struct sized_container) <= 328, "a container has become larger");
static_assert(sizeof(struct sized) <= 416, "a workload has become larger");

enum sizer_phase {
	SIZER_RESTS,
	SIZER_NODES,
	SIZER_PODS,
	SIZER_SWEEP,
	SIZER_BILLS,
	SIZER_WORKLOADS,
	SIZER_WISHES
};

struct sizer {
	struct sizer_config config;
	struct intern *names; /* owned; texts that many have: namespaces, kinds, policies */
	struct {
		VEC_FIELDS(struct sized *);
	} workloads;
	struct map by_object; /* by namespace and name of the GPURecommendation */
	struct slab records;  /* of pods */
	struct {
		VEC_FIELDS(struct sized_pod *);
	} pods;
	struct map by_uid;
	uint32_t mark;
	bool listed; /* all GPURecommendations are known */
	/* the round */
	enum sizer_phase phase;
	uint32_t round;
	enum world_class class;
	size_t at, from, next_from; /* from: workloads; where it began, and the next one does */
	bool skipped, waits;	    /* figures were, in this round; it does, for checkpoints */
	int64_t round_at;	    /* monotonic; the next one */
	struct arena scratch;
	uint64_t rounds, next_id;
	struct past *past;     /* owned; the one that is asked for; NULL: none */
	bool ending, recalled; /* recalled: runs that had ended before it led were looked at */
	int64_t save_at;       /* monotonic */
	int64_t tokens_ms, filled_ms; /* of writes */
	int64_t first_ms;	      /* the same of first ones */
	uint32_t waiting;	      /* workloads whose write has to wait, */
	size_t wait_at;		      /* looked at from here on */
	struct {
		VEC_FIELDS(struct sizer_wish);
	} wishes;
	struct heal_alarms alarms;
	struct others others;
	struct gpus gpus;
	struct moves moves;
	struct devices devices;
	struct bills bills;
	struct gathers gathers;
	struct strangers strangers;
	struct sizer_totals totals, counting;
	struct roll_fleet fleet;
	struct roll_gate gate;
	struct surges *surges; /* owned; surges.h */
	struct rooms rooms;    /* of this round */
	int64_t managing;      /* pods of workloads that are automated, counted in this round */
};

/* --- workload_target.c --- */
struct decision {
	struct policy_choice choice;
	const struct sizer *sizer; /* borrowed, like */
	const struct world *world; /* this */
	int64_t now_ms;
	/* what keeps running pods from their share, one word and a sentence; NULL: nothing does */
	const char *blocked, *blocker;
	/* sentences: what stopped it, what becomes of a contended pod, of others; NULL: nothing */
	const char *paused, *moves, *course;
	/* who scales it on its GPU, who at all; borrowed, NULL: nobody known */
	const struct scaler *scaler, *resizer;
	const char *scaler_metric;  /* by that */
	struct share wish, granted; /* what a person asks for, and within the bounds (C6) */
	char missing[128];	    /* the policy that is named and not there, cut; "" */
};
/* Into its containers. False: nobody knows by which policy. */
bool decide_workload(struct sizer *s, struct sized *x, struct decision *d);

/* --- say.c: what its GPURecommendation should say --- */
struct say_sentence {
	const char *reason, *message;
};
void say_recommendation(
	const struct sized *x, const struct decision *d, struct arena *a, struct recommendation *r);
void say_condition(const struct sized *x, struct recommendation *r,
	enum recommendation_condition type, enum condition_status status, struct say_sentence say);
/* Of what is written; `urgent`: without figures that change all the time. */
uint64_t say_digest(const struct recommendation *r, bool urgent);

#endif
