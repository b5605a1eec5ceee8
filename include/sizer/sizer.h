/* The memory of workloads: whose pods used how much, what each workload should have, and what its
 * GPURecommendation says of it. Sibling of the engine, with the same contract: figures and changes
 * go in, actions come out, what became of each comes back. Pure: no I/O, and time is an argument.
 *
 *     observe   GPURecommendations, as the watch tells them
 *     recall    checkpoints, once at the start
 *     take      the figures of one pod
 *     step      looks at every pod and every workload once a round, in slices
 *     settle    what became of an action
 *
 * It may be restarted at any instruction: the share that is in force, its revision and the times of
 * conditions stand in the GPURecommendation, what was measured in the checkpoints. Only a leader
 * steps; who does not lead keeps what the watch told.
 *
 * The engine alone changes shares: of tenants that run it is told what they should have (resize
 * requests).
 * Admission takes the target of the next pod from the GPURecommendation (world/advice.h). */
#ifndef SIZER_SIZER_H
#define SIZER_SIZER_H

#include "around/around.h"
#include "model/change.h"
#include "model/checkpoint.h"
#include "model/plan.h"
#include "owner/groups.h"
#include "owner/podgroups.h"
#include "roll/roll.h"
#include "sizer/bills.h"
#include "tracking/sizer_config.h"
#include "world/world.h"

struct sizer;

struct sizer *sizer_create(const struct sizer_config *config);
void sizer_destroy(struct sizer *s);

/* All GPURecommendations are known; nothing is done before. */
bool sizer_listed(const struct sizer *s);

/* --- checkpoints --- */

enum sizer_recall {
	SIZER_RECALL_TAKEN,
	SIZER_RECALL_NOT_WANTED, /* of no workload that is known, or it was read before */
	SIZER_RECALL_VERSION,	 /* of a version that is not known: an event will tell */
	SIZER_RECALL_MALFORMED,	 /* the same */
};

/* Looks at no more than `budget` pods and workloads; `plan` is reset and filled. A plan that is
 * unfinished asks to go on soon. */
void sizer_step(struct sizer *s, struct sizer_now now, const struct world *w, uint32_t budget,
	struct plan *plan);
/* Found in the last step. */
const struct resize_request *sizer_resize_requests(const struct sizer *s, size_t *ret_count);
/* What replacing running pods waits for, the same for all; until it is told nobody is replaced. */
void sizer_gate(struct sizer *s, const struct roll_gate *gate);
/* May a pod be made beside another one (C24)? */
void sizer_may_surge(struct sizer *s, enum sizer_surge right);
/* Is the action one of ours? Its number tells it from the engine's. */
bool sizer_owns(uint64_t action_id);
void sizer_settle(
	struct sizer *s, struct sizer_now now, uint64_t action_id, const struct outcome *outcome);
/* Monotonic; when to step again. */
int64_t sizer_deadline(const struct sizer *s);

/* --- what is known, for metrics --- */

struct sizer_totals {
	uint32_t workloads, pods;
	uint32_t ready;	     /* workloads with enough history and a target */
	uint32_t learning;   /* that have too little history, or none */
	uint32_t stale;	     /* that are not heard any more */
	int64_t saved_milli; /* that their running pods have less than their templates ask for */
	size_t bytes;	     /* that all of it takes, about */
	uint64_t rounds;
};
void sizer_sum(const struct sizer *s, struct sizer_totals *ret);

/* What a GPUWorkloadGroup gathers. */
struct sizer_gathered {
	int32_t pods, workloads;
};
/* False: no round has ended since the start, nobody knows. */
bool sizer_gathers(const struct sizer *s, const char *group, struct sizer_gathered *ret);
/* As the last round found them. Borrowed until the next step. */
struct strangers;
const struct strangers *sizer_strangers(const struct sizer *s);

#endif
