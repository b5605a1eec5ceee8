/* Healing gives a workload that runs short of something more of it at once. Here is what the sizer
 * remembers of it, and when it looks; right/heal.h decides what follows. */
#ifndef TRACKING_HEAL_RECORD_H
#define TRACKING_HEAL_RECORD_H

#include "base/vec.h"
#include "history/history.h"
#include "model/gpu.h"
#include "model/recommendation.h"
#include "right/heal.h"
#include "right/press.h"
#include "tracking/sizer_config.h"
#include "tracking/small.h"

/* The reason of the condition Paused after a restart loop. */
#define HEALING_PAUSED "Rollback"
/* An older figure says nothing of how much memory a container used when it ended. */
#define HEALING_USED_MS 120000

struct sized_workload;
struct sized_container;
struct sized_pod;

/* What is remembered of one container's healing beside right/heal.h's part. Most containers have
 * none. */
struct heal_record {
	struct heal state;
	/* when we shrank it last (0: never, or that went well); the most restarts of a pod since */
	int64_t shrunk_ms;
	struct small_share shrunk_from;
	/* the last decision, as in heal_answer */
	struct {
		struct recommended_healing told;
		int64_t blocked_ms;
		bool healing;
		uint8_t saw; /* enum heal_signal */
	} answer;
	struct small_share uncapped; /* the last step, where it was limited (capped_by) */
	int64_t contended_ms;	     /* policy time of contention; 0: there is none */
	int64_t unjudged_ms;	     /* when nobody knew who had taken what it lacked; 0: never */
	int64_t told_ms;	     /* when an event told `told` */
	int32_t restarts;
	int32_t denied_mib;    /* memory in use when it ran out; 0: not known */
	int32_t denied_of_mib; /* the largest share with which it ran out */
	bool denied;	       /* it ran out of memory since the last decision */
	uint8_t blame;	       /* enum blame */
	uint8_t capped_by;     /* enum capped_by: of the last step, until the hold is over */
	/* what events have to tell */
	uint8_t ignored; /* enum heal_signal: the policy does not heal that */
	uint8_t told;	 /* enum heal_signal: the ignored one that an event told last */
	bool began : 1;
	bool ended : 1;
	bool rolled : 1;
	bool leaks : 1;
};

/* Of one workload. */
struct heal_workload {
	int64_t policy_generation;
	uint32_t alert; /* in which of the looks at those alerted it was last */
	bool alerted;	/* it is looked at now, whatever the round does */
	bool paused;	/* nothing is changed: our last change made it fail */
	/* what its GPURecommendation told */
	bool leaks;
	struct recommended_healing told;
};

/* The running tenants of one container, counted in one round. */
struct heal_tally {
	uint32_t tenants, pressed, crowded; /* all; those that want compute; those on a full GPU */
	struct small_share granted;	    /* the most that a tenant has */
	int32_t pressed_milli;		    /* the most that a tenant has which wants more */
	int32_t used_mib;		    /* the most memory in use by one, as told last */
	bool told;			    /* a framework was told how much memory to take */
};

/* One container of one pod. There are many: keep it small. */
struct heal_feed {
	/* when memory was told last, 0: never; when it was the most of the last minute */
	int64_t at_ms, most_ms;
	int32_t mib, most_mib;
	struct press press;
	int32_t compute;    /* of METERED_FULL, or METERED_ABSENT */
	uint8_t pressed;    /* enum press_verdict, as the tally has it */
	uint16_t contended; /* since which minute (rollouts/moves.c); 0: it is not */
};

struct heal_pod {
	int64_t exit_ms; /* when one of its containers ended last, on its kubelet's clock */
	uint32_t loops;	 /* restarts within the window after our shrink */
	uint32_t node;	 /* the world's number of its node */
	int64_t shrunk_of, shrunk_ms; /* which shrink of ours it has, and since when */
	struct small_share share;     /* a tenant's share, else 0 */
	uint32_t gpu;		      /* the number of its GPU (gpus_at) */
	uint32_t restarts;
};

/* A container that ended with an error. It is judged once its neighbours were looked at, when its
 * pod may be gone, and kept for a while after that, because its end is told again. */
struct heal_ended {
	char uid[SIZER_UID_MAX + 1];
	char uuid[GPU_UUID_MAX];	   /* the GPU on which it was */
	uint32_t node;			   /* the world's number of its node */
	struct sized_workload *of;	   /* borrowed, like */
	struct sized_container *container; /* this; healing_lose forgets it */
	int64_t due_ms;			   /* monotonic; when it is judged; 0: not known yet */
	int64_t used_mib;		   /* METERED_ABSENT: not known */
	int64_t share_mib;		   /* the share that it had */
	bool told;			   /* its last words are a CUDA out-of-memory */
	bool first;	/* its pod was not seen before: it may have been judged */
	bool mps;	/* MPS held it to its share */
	bool contended; /* its pod has the condition of contention */
	bool judged;
	int64_t at_ms; /* on its kubelet's clock */
};

/* Workloads in need are looked at in slices: no look is under way; it decides what they should
 * have; it finds what their pods are to get. */
enum heal_look { HEAL_LOOK_RESTS, HEAL_LOOK_DECIDES, HEAL_LOOK_RESIZES };

struct heal_alarms {
	VEC_OF(struct heal_ended) ends;
	bool any;	/* a workload is alerted that the look under way may have passed */
	uint32_t looks; /* the number of looks so far */
	enum heal_look look;
	size_t at; /* the workload or pod that the look has come to */
};

/* The workload is looked at now, whatever the round does. */
void healing_alert(struct heal_alarms *alarms, struct sized_workload *x);
/* The only container of the pod that has a GPU; NULL: none or several have one. */
struct sized_container *healing_sole(const struct sized_pod *p);
/* Until when nothing may shrink. */
int64_t healing_blocked_ms(const struct sized_container *c);
void healing_forget(struct sized_container *c);
/* All zero where nothing is remembered. */
const struct heal_record *healing_of(const struct sized_container *c);
struct heal_record *healing_touch(struct sized_container *c); /* made if need be */
bool healing_is_blank(const struct heal_record *h);	      /* it is as a new one would be */
void healing_trim(struct sized_container *c); /* gone if it is as a new one would be */

/* The container is about to go: its ends are forgotten. */
void healing_lose(struct heal_alarms *alarms, const struct sized_container *c);

#endif
