/* What the sizer is given from outside: its configuration, the ports by which it asks others, the
 * time, and the figures of pods. */
#ifndef TRACKING_SIZER_CONFIG_H
#define TRACKING_SIZER_CONFIG_H

#include "model/metered.h"
#include "model/pod.h"
#include "model/price.h"
#include "model/reason.h"
#include "model/share.h"
#include "model/unfit.h"
#include "base/zone.h"

struct around;
struct groups;
struct namespace;
struct owner_port;
struct podgroups;

#define SIZER_WORKLOADS_MAX  20000
#define SIZER_PODS_MAX	     20000
#define SIZER_CONTAINERS_MAX 8 /* with a GPU, of one workload */
#define SIZER_UID_MAX	     39
/* A status in which nothing but figures is another is written no more often. */
#define SIZER_FIGURES_MS 60000
/* Writes in all, and beside them those that make a GPURecommendation and give it its first status:
 * two for each workload in its life, many where Aliquot comes to a cluster. */
#define SIZER_PER_SECOND       10
#define SIZER_FIRST_PER_SECOND 40
/* What is kept of a workload without pods, or of a container that no pod has any more. */
#define SIZER_KEEP_S 691200

/* The engine, asked what became of a resize request, and what it is about to do. */
struct sizer_port {
	void *data; /* borrowed, handed back */
	void (*resize_status)(
		void *data, const char *uid, struct share_fate *ret); /* NULL: nobody tells */
	/* Is it taking that pod down, or another one of its owner? NULL: it never does */
	bool (*evicts)(void *data, const char *uid);
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

struct bill_config {
	const struct prices *prices;	      /* borrowed, like all here; NULL: none */
	const char *currency;		      /* NULL: not told */
	const char *price_label;	      /* of a node, before its model's; NULL: none */
	const char *team_label, *model_label; /* of pods; NULL: none */
};

struct sizer_config {
	const struct groups *groups;	    /* borrowed */
	const struct owner_port *owners;    /* borrowed; NULL: nobody knows more than pods say */
	const struct around *around;	    /* borrowed; NULL: nothing else acts on workloads */
	const struct podgroups *pod_groups; /* borrowed; NULL: no group is known to be Basic */
	const char *const *schedulers;	    /* borrowed; as admission's */
	uint32_t scheduler_count;
	struct sizer_admission admission;
	struct sizer_port engine;

	struct bill_config bill;
	int64_t round_ms;      /* from one look at everything to the next */
	int64_t checkpoint_ms; /* a checkpoint is not written more often; 0: none is */
	bool past;	       /* somebody knows of the time before us: sizer/past.h */
};

/* Monotonic for waits, policy time for all that is measured and planned. */
struct sizer_now {
	int64_t mono_ms, policy_ms;
	int64_t wall_ms; /* for what the API server and kubelets dated */
};

/* May a pod be made beside another one (C24)? UNKNOWN until it is told: then none is. */
enum sizer_surge { SIZER_SURGE_UNKNOWN, SIZER_SURGE_FORBIDDEN, SIZER_SURGE_ALLOWED };

/* --- use --- */

/* What one source knows of one pod now; a container that uses several devices has a figure for
 * each. */
struct sizer_use {
	const char *uid; /* of the pod */
	enum metered_source source;
	const struct metered_figure *figures; /* borrowed for the call */
	uint32_t figure_count;
	const struct app_gauges *app; /* what its application tells; borrowed, NULL: nothing */
};

/* A tenant that runs and should have another share where it is, for the engine, as CHANGE_SHARE. 0,
 * 0: whatever it has. Or a tenant that is about to go because of its neighbours: its GPU is not for
 * the next ones of its workload, CHANGE_AVOID_GPU. */
struct resize_request {
	char uid[SIZER_UID_MAX + 1];
	int64_t milli, mib; /* on each of its GPUs */
	int64_t away_ms;    /* for so long; 0: it stays; less: it did not go after all */
};

#endif
