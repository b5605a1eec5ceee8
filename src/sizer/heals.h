/* More at once for those in need: what the sizer remembers of it, and when it looks. What follows
 * from it is right/heal.h's. */
#ifndef SIZER_HEALS_H
#define SIZER_HEALS_H

#include "base/vec.h"
#include "history/history.h"
#include "model/gpu.h"
#include "model/recommendation.h"
#include "right/heal.h"
#include "sizer/sizer.h"

#include "moves.h"
#include "small.h"

/* The reason of Paused where a restart loop did it. */
#define HEALS_PAUSED "Rollback"
/* A figure that was told longer ago says nothing of how much was used at the end. */
#define HEALS_USED_MS 120000

struct decision;
struct plan;
struct policy_choice;
struct sized;
struct sized_container;
struct sized_feed;
struct sized_pod;
struct world_gpu;

/* What is remembered of its healing; the rest is right/heal.h's. Of most containers there is
 * nothing, and then there is none. */
struct sized_heal {
	struct heal state;
	/* our last shrink (0: none, or it did well), and the most restarts of a pod after it */
	int64_t shrunk_ms;
	struct small_share shrunk_from;
	/* of the last decision, as in heal_answer */
	struct {
		struct recommended_healing told;
		int64_t blocked_ms;
		bool healing;
		uint8_t saw; /* enum heal_signal */
	} answer;
	struct small_share uncapped; /* the last step, where it was limited (capped_by) */
	int64_t contended_ms;	     /* policy time; 0: it is not */
	int64_t unjudged_ms;	     /* when nobody knew who had taken what it lacked; 0: never */
	int64_t told_ms;	     /* when `told` was */
	int32_t restarts;
	int32_t denied_mib;    /* what was used then; 0: not known */
	int32_t denied_of_mib; /* and what there was, at most */
	bool denied;	       /* since the last decision */
	uint8_t blame;	       /* enum blame */
	uint8_t capped_by;     /* enum capped_by: of the last step, until the hold is over */
	/* what is to be told by events */
	uint8_t ignored; /* enum heal_signal: the policy does not heal that */
	uint8_t told;	 /* so was this one */
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
	bool paused;	/* nothing is changed: what we changed last made it fail */
	/* that its GPURecommendation told */
	bool leaks;
	struct recommended_healing told;
};

/* Of the tenants of one container that run, counted in one round. */
struct heal_tally {
	uint32_t tenants, pressed, crowded; /* all; that want more compute; on a full GPU */
	struct small_share granted;	    /* the most that one has */
	int32_t pressed_milli;		    /* the same, of those that want more */
	int32_t used_mib;		    /* the most that one uses, as told last */
	bool told;			    /* the framework of one, what memory to take */
};

/* Of one container of one pod. There are many: keep it small. */
struct heal_feed {
	int64_t at_ms, most_ms; /* of memory: as told last, 0: never; the most of the last minute */
	int32_t mib, most_mib;
	struct press press;
	int32_t compute;    /* of METERED_FULL, or METERED_ABSENT */
	uint8_t pressed;    /* enum press_verdict, as the tally has it */
	uint16_t contended; /* since which minute (moves.c); 0: it is not */
};

struct heal_pod {
	int64_t exit_ms; /* when one of its containers ended last, on its kubelet's clock */
	uint32_t loops;	 /* restarts within its window after our shrink */
	uint32_t node;	 /* of the world, on which it is */
	int64_t shrunk_of, shrunk_ms; /* which shrink of ours it has, and since when */
	struct small_share share;     /* of a tenant, else 0 */
	uint32_t gpu;		      /* gpus_at */
	uint32_t restarts;
};

/* A container that ended with an error, until it is judged: neighbours are looked at first. Its pod
 * may be gone by then. And for a while after that, for it is told again. */
struct heal_ended {
	char uid[SIZER_UID_MAX + 1];
	char uuid[GPU_UUID_MAX];	   /* of the GPU on which it was, */
	uint32_t node;			   /* of the world */
	struct sized *of;		   /* borrowed, like */
	struct sized_container *container; /* this; heals_lose */
	int64_t due_ms;			   /* monotonic; 0: not known yet */
	int64_t used_mib;		   /* METERED_ABSENT: not known */
	int64_t share_mib;		   /* that it had */
	bool told;			   /* its last words are a CUDA out-of-memory */
	bool first;	/* its pod was not seen before: it may have been judged */
	bool mps;	/* held to its share by MPS */
	bool contended; /* its pod says so */
	bool judged;
	int64_t at_ms; /* on its kubelet's clock */
};

/* --- heals.c: more at once --- */
/* A look at those alerted, in slices: none is under way; what they should have; what their pods
 * are to get. */
enum heal_look { HEAL_LOOK_RESTS, HEAL_LOOK_DECIDES, HEAL_LOOK_WISHES };

struct heal_alarms {
	struct {
		VEC_FIELDS(struct heal_ended);
	} ends;
	bool any;	/* some workload is alerted, that the look under way may have passed */
	uint32_t looks; /* at those */
	enum heal_look look;
	size_t at; /* of workloads or pods: as far as it has come */
};

/* What became of the containers of a pod that is there, and what share it has. */
void heals_see(struct sizer *s, struct sized_pod *p, const struct world_pod *wp, int64_t now_ms);
/* A figure of one was taken; so many requests wait. */
void heals_take(struct sizer *s, struct sized_pod *p, struct sized_feed *f,
	const struct history_sample *sample, int64_t waiting);
/* Into the tally of the round. */
void heals_tally(struct sizer *s, struct sized_pod *p, int64_t now_ms);
/* It is looked at now, whatever the round does. */
void heals_alert(struct sizer *s, struct sized *x);
/* The container whose share the pod's is; NULL: it is nobody's, or of several. */
struct sized_container *heals_sole(const struct sized_pod *p);
/* The policy may have changed, which ends a pause. */
void heals_policy(struct sized *x, const struct policy_choice *choice);
/* What is in force without what healing added, and until when nothing shrinks. */
struct share heals_base(
	const struct sized *x, struct sized_container *c, const struct sizing *sizing);
/* What should be in force, after hold_step. */
int64_t heals_blocked_ms(const struct sized_container *c);
struct share heals_step(struct sized *x, struct sized_container *c, const struct decision *d,
	const struct share *recommended);
/* What is in force is another than before; whole: the template's GPU. */
void heals_shrunk(struct sized_container *c, const struct share *from, int64_t now_ms);
void heals_forget(struct sized_container *c);
/* All zero where nothing is remembered. */
const struct sized_heal *heals_of(const struct sized_container *c);
struct sized_heal *heals_touch(struct sized_container *c); /* made if need be */
void heals_trim(struct sized_container *c);		   /* gone if it is as a new one would be */

/* --- heals_ends.c: containers that ended --- */
/* A container of a pod with a share may have, since it was seen last. */
void heals_ended(struct sizer *s, struct sized_pod *p, const struct world_gpu *g, int64_t now_ms);
/* The same of a pod that ended, or is being deleted: restartPolicy Never leaves it at one end. */
void heals_over(struct sizer *s, struct sized_pod *p, const struct world_pod *wp, int64_t now_ms);
/* The same of one that ended before a round had met it: what fails at once does so in seconds. */
void heals_unseen(struct sizer *s, const struct world_pod *wp, int64_t now_ms);
/* It is about to go: what ended of it is forgotten. */
void heals_lose(struct sizer *s, const struct sized_container *c);
/* Ends that it is time to judge. */
void heals_judge(struct sizer *s, const struct world *w, struct sizer_now now);
/* Monotonic; when somebody is to be looked at apart from the rounds. */
int64_t heals_deadline(const struct sizer *s);

/* --- heals_say.c: how it is told --- */
void heals_tell(struct sizer *s, struct sized *x, const struct decision *d, struct plan *plan);
void heals_say(
	const struct sized *x, const struct decision *d, struct arena *a, struct recommendation *r);

#endif
