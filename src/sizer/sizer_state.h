/* The whole sizer: its parts, each with a state of its own, and where the round is. */
#ifndef SIZER_SIZER_STATE_H
#define SIZER_SIZER_STATE_H

#include "bill_state.h"
#include "healing/healing.h"
#include "owner/strangers.h"
#include "rollouts/rollouts.h"
#include "sizer/sizer.h"
#include "supply/supply.h"
#include "tracking/tracking.h"

/* Of a round, in their order. */
enum sizer_phase {
	SIZER_RESTS, /* no round is under way */
	SIZER_NODES,
	SIZER_PODS,  /* who is there, and has what */
	SIZER_SWEEP, /* who is gone */
	SIZER_BILLS,
	SIZER_WORKLOADS,
	SIZER_REQUESTS, /* tenants that should have another share where they run */
};

/* Checkpoints. */
struct checkpoints {
	bool unread;	/* they are not all read yet */
	int64_t due_at; /* monotonic; when it is looked at next which have to be written */
};

/* What a group gathers. */
struct gathering {
	uint64_t hash; /* of the group's name */
	struct sizer_gathered of;
};
struct gatherings {
	VEC_FIELDS(struct gathering);
};

struct sizer {
	struct tracking tracking; /* workloads and their pods */
	struct supply supply;	  /* GPUs */
	struct healing healing;
	struct rollouts rollouts;
	struct bills bills;
	struct checkpoints checkpoints;
	struct past *past;		       /* owned; the past that is asked for; NULL: none */
	struct gatherings gathered, gathering; /* of the last round, and of this */
	struct strangers strangers;
	struct sizer_totals totals, counting;
	bool listed;   /* all GPURecommendations are known */
	bool recalled; /* runs that had ended before it led were looked at */
	/* the round */
	enum sizer_phase phase;
	size_t at, class_at; /* where the phase is: in a list, and which class of pods that is of */
	size_t from;	     /* the workload with which the round began */
	int64_t round_at;    /* monotonic; when the next round begins */
	uint32_t waiting;    /* workloads whose write has to wait */
	size_t wait_at;	     /* the first of these to be looked at next */
	int64_t managing;    /* pods of automated workloads, counted in this round */
};

#endif
