/* Surges under way: src/roll/surge.c says which write comes next, from the objects alone; this asks
 * it, one task at a time, and tells rolls.c how it ended. A surge that a former leader began is
 * found again by the marks on its pods (U16). */
#ifndef SIZER_SURGES_H
#define SIZER_SURGES_H

#include "rolls.h"
#include "roll/surge.h"

#define SURGE_TEXT_MAX FAULT_MESSAGE_MAX

struct surge {
	struct sized *of; /* borrowed; NULL: its workload is gone */
	struct arena arena;
	/* of the old pod, its ReplicaSet and the new one, which may not be there yet */
	const char *ns, *old_name, *old_uid, *set_name, *set_uid, *hash, *fresh_name;
	int64_t generation; /* of the ReplicaSet when the new pod was made; 0: not known */
	bool checks;	    /* there is none yet, and whether there may be one is being read */
	bool found;	    /* it was begun by somebody else */
	bool patient;	    /* a node may be added for it, as far as is known */
	uint64_t few_round; /* its ReplicaSet's pods were too few; all were counted anew by then */
	bool began;	    /* the new pod was there */
	bool labelled;	    /* and had its label */
	int64_t shown_by;   /* monotonic; the watch shows what was written, or it was not; 0 */
	uint64_t stamp;	    /* of the pod that was written last, as it was */
	char stamped[SIZER_UID_MAX + 1]; /* its uid; "": none */
	uint64_t action;		 /* under way; 0: none */
	enum surge_task task;
	struct surge_seen seen;
	int64_t asked_ms; /* wall; of the task that is under way */
	int64_t seen_ms;  /* wall; 0: nothing was read */
	int64_t at_ms;	  /* monotonic; not before */
	int32_t failures; /* of writes, in a row */
	enum surge_why why;
	uint64_t told;		      /* a hash of what people were told last */
	char blocker[SURGE_TEXT_MAX]; /* who it was, or what went wrong */
	char waits[SURGE_TEXT_MAX];   /* why the new pod does, in the words that it was told */
};

struct surges {
	struct {
		VEC_FIELDS(struct surge *); /* owned */
	} list;
	enum sizer_surge right;
};
struct surges *surges_create(void);
void surges_destroy(struct sizer *s);
/* A pod with marks of a surge that is not known. */
void surges_see(
	struct sizer *s, const struct world_pod *wp, struct sizer_now now, const struct world *w);
/* Every step. */
void surges_step(struct sizer *s, struct sizer_now now, const struct world *w, struct plan *plan);
/* False: it is none of them. */
bool surges_answer(
	struct sizer *s, struct sizer_now now, uint64_t id, const struct outcome *outcome);
int64_t surges_deadline(const struct sizer *s);		  /* monotonic */
void surges_drop(struct sizer *s, const struct sized *x); /* NULL: all of them */
bool surges_has(const struct sized *x);
/* How it ended, if the workload's roll is about it. */
void surges_settle(struct sizer *s, struct sized *x, const struct roll_ending *e, int64_t now_ms);

/* --- surge_turn.c --- */
#define SURGE_AGAIN_MS 200 /* until the watch shows what was written */
/* It has no action under way. */
void surge_turn(struct sizer *s, struct surge *g, struct sizer_now now, const struct world *w,
	struct plan *plan);

#endif
