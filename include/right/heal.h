/* More at once for a workload under pressure. Signals go in, what it is to have and why comes out;
 * until the hold is over nothing shrinks, then what was added goes step by step. Pure.
 *
 * A step is taken from the ALLOCATION, never from what an earlier step asked for: while that has
 * not arrived where the signal comes from, a further one says nothing new. What caps it ends it.
 * Healing waits for no history and no age of a pod; budgets are for whoever replaces pods.
 *
 * The state is one container's. Beside the paused flag it can be found again from a
 * GPURecommendation (heal_restore). */
#ifndef RIGHT_HEAL_H
#define RIGHT_HEAL_H

#include "model/recommendation.h"
#include "model/sizing.h"
#include "right/press.h"
#include "size/blame.h"

/* A second signal within this escalates. */
#define HEAL_AGAIN_MS	 3600000
#define HEAL_PRESS_MS	 600000	   /* the least time between two steps of compute */
#define HEAL_NEAR_MS	 300000	   /* memory near its limit for so long is a signal */
#define HEAL_DOWN_MS	 1800000   /* the least time between two steps down after the hold */
#define HEAL_RESTARTS	 2	   /* so many restarts undo a shrink of ours, */
#define HEAL_RESTARTS_MS 600000	   /* if they come within this time after it */
#define HEAL_PROVEN_MS	 3600000   /* a shrink after which a pod did well for so long is no cause */
#define HEAL_ROLLBACK_MS 259200000 /* after an undone shrink none follows for so long */
#define HEAL_LEAK_HOURS	 6	   /* memory that rises for so many hours without a plateau, */
#define HEAL_LEAK_STEPS	 2	   /* in spite of so many steps, leaks */

/* --- signals --- */

struct heal_exit {

	bool told;	  /* its last words are a CUDA out-of-memory */
	int64_t used_mib; /* memory in its last minute; METERED_ABSENT: not known */
	int64_t share_mib;
};
/* Did a container that ended with an error do so for lack of GPU memory? */
bool heal_exit_is_memory(const struct heal_exit *e);

enum heal_signal {
	HEAL_QUIET,
	HEAL_DENIED,	    /* an allocation was denied, or it ended for lack of memory */
	HEAL_NEAR_LIMIT,    /* memory that grows with need is near its limit */
	HEAL_PRESSED,	    /* it wants more compute */
	HEAL_CONTENTION,    /* its share is large enough, but a neighbour takes it */
	HEAL_RESTARTS_LOOP, /* it keeps restarting since we shrank it */
};
const char *heal_signal_name(enum heal_signal s); /* for events and messages */

struct heal_ask {
	const struct sizing *sizing; /* borrowed */
	int64_t now_ms;
	struct share allocated;	  /* what running pods have */
	struct share recommended; /* what they should have without healing: hold_answer.target */
	bool sure;		  /* enough is known now for what was added to go again */
	int64_t device_mib;	  /* usable memory of the largest GPU it can get; 0: not known */

	bool denied;		  /* it ran out of memory since it was asked last */
	enum blame blame;	  /* whose fault that was (C29); where an enforced limit denied it:
				     BLAME_OWN */
	int64_t denied_of_mib;	  /* the largest share that ran out; 0: the allocated one */
	int64_t used_mib;	  /* METERED_ABSENT: not known */
	bool grows;		  /* its memory is of the growing class */
	int32_t rising_hours;	  /* history_rising */
	enum press_verdict press; /* the verdict on as many replicas as count (press_counts) */
	int64_t pressed_milli;	  /* the largest share of a pressed one; 0: the allocated one */

	int64_t shrunk_ms;	  /* when we last shrank it; 0: never */
	struct share shrunk_from; /* what it had before */
	int32_t restarts; /* of the worst pod, within HEAL_RESTARTS_MS after it got that share */
};

/* --- state --- */

struct heal_half {
	int64_t value; /* the amount that healing holds; 0: it is not healed */
	int64_t since_ms, until_ms, last_ms;
	int32_t step;
};

struct heal {
	struct heal_half compute, memory; /* milli-GPU, MiB */
	int64_t near_ms;		  /* since when memory is near its limit; 0: it is not */
	int64_t rolled_ms;		  /* when the shrink was that was undone; 0: none */
	bool paused;	/* it does nothing until a person or the policy says so: heal_resume */
	bool exhausted; /* a whole device was not enough */
	bool leaking;	/* its memory leaks, and is given no more */
};

void heal_restore(struct heal *h, const struct recommended_healing *told, struct share target,
	const struct sizing *sizing);
void heal_resume(struct heal *h);

/* --- what follows --- */

struct heal_answer {
	struct share target; /* never less than what is recommended, except after a leak */
	struct share
		uncapped; /* what the last step asked for; at most a step above the allocation */
	bool healing;	  /* something was added, as `told` says in the status */
	struct recommended_healing told;
	bool capped;	      /* the policy or the device made the step smaller */
	int64_t blocked_ms;   /* nothing shrinks before that; 0: nothing blocks */
	enum heal_signal saw; /* the signal that was acted on or ignored now; QUIET: none */
	bool acted;	      /* the target rose for it, or went back */
	bool contention;      /* it, or its neighbour, should move to another GPU */
};

void heal_step(struct heal *h, const struct heal_ask *ask, struct heal_answer *ret);

#endif
