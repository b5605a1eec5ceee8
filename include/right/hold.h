/* When a recommended share is put in force. Growth at once; a smaller share only after it was
 * enough for the policy's delay, and then the highest that was asked for meanwhile; no change that
 * is too small to be worth one; none on a silence.
 *
 * Compute and memory are judged one by one. But the first conversion, from the whole GPU of the
 * template to a share, is one change of both: it wants enough history, and the delay runs together
 * with that from the first sample, so that it comes as soon as there is enough. Pure. */
#ifndef RIGHT_HOLD_H
#define RIGHT_HOLD_H

#include "history/history.h"
#include "model/recommendation.h"
#include "model/sizing.h"

/* A change is one of the policy's percentage of what is, and of at least this. */
#define HOLD_MIN_MILLI 50
#define HOLD_MIN_MIB   512

struct hold_ask {
	const struct sizing *sizing; /* borrowed */
	struct history_facts facts;
	struct share
		current;     /* in force without what healing added: history_kept.held where that
				is known, else the status's target; while it is whole the whole GPU */
	bool whole;	     /* it has not been converted yet */
	struct share wanted; /* recommend_answer.target; 0: not known */
	bool keeps_compute;  /* who scales on compute forbids us to change it (U14) */
	int64_t blocked_ms;  /* nothing shrinks before (healing); 0: nothing blocks */
	int64_t now_ms;
};

enum hold_why {
	HOLD_SAME,     /* it is what it should be */
	HOLD_CONVERTS, /* from a whole GPU to a share */
	HOLD_GROWS,
	HOLD_SHRINKS,
	HOLD_UNKNOWN,  /* nothing is known to change it to */
	HOLD_SMALL,    /* BelowThreshold */
	HOLD_LEARNING, /* too little history */
	HOLD_STALE,    /* nothing is heard */
	HOLD_DELAY,    /* it has not been enough for long enough */
	HOLD_HEALING,  /* blocked */
	HOLD_SCALED,   /* the number of its pods follows from what they use */
	HOLD_ACTIVE,   /* in use, and the policy shrinks idle ones only */
	HOLD_WHYS
};
/* As in a condition's reason: Applied, BelowThreshold, Learning, Stale, ScaleDownDelay, Healing,
 * HorizontalScalerOnGPU, InUse, Unknown. */
const char *hold_why_name(enum hold_why why);

struct hold_part {
	enum hold_why why;
	int64_t next_ms; /* when it may be otherwise; 0: nobody knows */
};

struct hold_answer {
	struct share target; /* to be in force now; `current` where nothing changes */
	bool changes;
	struct hold_part compute, memory;
};

/* `kept`: of the container's history (history_kept); it is followed up, so ask at every turn.
 *
 * While a workload is whole its status shows what is recommended as the target, although nothing is
 * in force; from then on it shows what this says, or what healing makes of it (right/heal.h). */
void hold_step(const struct hold_ask *ask, struct history_kept *kept, struct hold_answer *ret);

#endif
