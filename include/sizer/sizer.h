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
 * The engine alone changes shares: of tenants that run it is told what they should have (wishes).
 * Admission takes the target of the next pod from the GPURecommendation (world/advice.h). */
#ifndef SIZER_SIZER_H
#define SIZER_SIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "around/around.h"
#include "model/change.h"
#include "model/checkpoint.h"
#include "model/metered.h"
#include "model/plan.h"
#include "model/share.h"
#include "model/unfit.h"
#include "owner/groups.h"
#include "owner/podgroups.h"
#include "roll/roll.h"
#include "sizer/bills.h"
#include "world/world.h"

#define SIZER_WORKLOADS_MAX  20000
#define SIZER_PODS_MAX	     20000
#define SIZER_CONTAINERS_MAX 8 /* with a GPU, of one workload */
/* A status in which nothing but figures is another is written no more often. */
#define SIZER_FIGURES_MS 60000
/* Writes in all, and beside them those that make a GPURecommendation and give it its first status:
 * two for each workload in its life, many where Aliquot comes to a cluster. */
#define SIZER_PER_SECOND       10
#define SIZER_FIRST_PER_SECOND 40
/* What is kept of a workload without pods, or of a container that no pod has any more. */
#define SIZER_KEEP_S 691200

/* The engine, asked what became of a wish, and what it is about to do. */
struct sizer_port {
	void *data; /* borrowed, handed back */
	void (*fate)(void *data, const char *uid, struct share_fate *ret); /* NULL: nobody tells */
	/* Is it taking that pod down, or another one of its owner? NULL: it never does */
	bool (*evicts)(void *data, const char *uid);
};

/* Time zones by name; NULL: not known. Kept for the step. */
struct sizer_zones {
	void *data;						  /* borrowed, handed back */
	const struct zone *(*find)(void *data, const char *name); /* NULL: none is known */
};

/* What admission goes by, beside the world. */
struct sizer_admission {
	void *data; /* borrowed, handed back */
	/* Does the webhook see pods of that namespace? NULL: of all but those of C1 */
	bool (*sees)(void *data, const struct namespace *ns);
	/* C2: REASON_NONE, or why no pod of that namespace is taken down now to be converted;
	 * NULL: all may be */
	enum reason (*may_convert)(void *data, const char *ns);
	/* One that runs is taken down for it; NULL: nobody counts */
	void (*replaced)(void *data);
	/* As the hook's, without a class: nodes match the pod and none could give it a share */
	bool (*unshared)(void *data, const struct pod *pod, struct unfit_tally *ret_why);
	int64_t context_mib; /* as admit_input's, like */
	bool mps_unlabelled, notes_names;
};

struct sizer;
struct sizer_config {
	const struct groups *groups;	    /* borrowed */
	const struct owner_port *owners;    /* borrowed; NULL: nobody knows more than pods say */
	const struct around *around;	    /* borrowed; NULL: nothing else acts on workloads */
	const struct podgroups *pod_groups; /* borrowed; NULL: no group is known to be Basic */
	const char *const *schedulers;	    /* borrowed; as admission's */
	uint32_t scheduler_count;
	struct sizer_admission admission;
	struct sizer_port engine;
	struct sizer_zones zones;
	struct bill_config bill;
	int64_t round_ms;      /* from one look at everything to the next */
	int64_t checkpoint_ms; /* a checkpoint is not written more often; 0: none is */
	int64_t context_mib;   /* as admission's; 0: MODEL_CONTEXT_MIB */
	bool past;	       /* somebody knows of the time before us: sizer/past.h */
};

/* Monotonic for waits, policy time for all that is measured and planned. */
struct sizer_now {
	int64_t mono_ms, policy_ms;
	int64_t wall_ms; /* for what the API server and kubelets dated */
};

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

/* --- use --- */

struct sizer_figure {
	const char *container; /* "": not told which */
	const char *basis;     /* NULL: not told */
	bool estimated;
	int64_t compute;   /* of METERED_FULL; or METERED_ABSENT */
	int64_t mem_bytes; /* or METERED_ABSENT */
	int64_t at_ms;	   /* policy time */
};

/* What one source knows of one pod now; a container that uses several devices has a figure for
 * each. */
struct sizer_use {
	const char *uid; /* of the pod */
	enum metered_source source;
	const struct sizer_figure *figures; /* borrowed for the call */
	uint32_t figure_count;
	const struct app_gauges *app; /* what its application tells; borrowed, NULL: nothing */
};

/* Looks at no more than `budget` pods and workloads; `plan` is reset and filled. A plan that is
 * unfinished asks to go on soon. */
void sizer_step(struct sizer *s, struct sizer_now now, const struct world *w, uint32_t budget,
	struct plan *plan);
/* Tenants that run and should have another share where they are, found in the last step; for the
 * engine, as CHANGE_SHARE. 0, 0: whatever they have. Or a tenant that is about to go because of its
 * neighbours: its GPU is not for the next ones of its workload, CHANGE_SHUN. */
#define SIZER_UID_MAX 39
struct sizer_wish {
	char uid[SIZER_UID_MAX + 1];
	int64_t milli, mib; /* on each of its GPUs */
	int64_t away_ms;    /* for so long; 0: it stays; less: it did not go after all */
};
const struct sizer_wish *sizer_wishes(const struct sizer *s, size_t *ret_count);
/* What replacing running pods waits for, the same for all; until it is told nobody is replaced. */
void sizer_gate(struct sizer *s, const struct roll_gate *gate);
/* May a pod be made beside another one (C24)? UNKNOWN until it is told: then none is. */
enum sizer_surge { SIZER_SURGE_UNKNOWN, SIZER_SURGE_FORBIDDEN, SIZER_SURGE_ALLOWED };
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
