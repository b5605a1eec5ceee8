/* Surges under way. src/roll/surge.c says which write comes next, from the objects alone; surges.c
 * carries out one task at a time, and tells roll_record.c how the surge ended. A surge that a
 * former leader began is found again by the marks on its pods (U16). */
#ifndef ROLLOUTS_SURGES_H
#define ROLLOUTS_SURGES_H

#include "rollouts/roll_record.h"
#include "roll/course.h"
#include "roll/surge.h"

#define SURGE_TEXT_MAX FAULT_MESSAGE_MAX

struct surge {
	struct sized_workload *of; /* borrowed; NULL: its workload is gone */
	struct arena arena;
	/* of the old pod, its ReplicaSet and the new one, which may not be there yet */
	const char *ns, *old_name, *old_uid, *set_name, *set_uid, *hash, *fresh_name;
	int64_t generation; /* of the ReplicaSet when the new pod was made; 0: not known */
	bool checks;	    /* the new pod is not made yet: it is being read whether it may be */
	bool found;	    /* another process began it */
	bool patient;	    /* a node may be added for it, as far as is known */
	uint64_t few_round; /* the round by which its ReplicaSet's too few pods are counted anew */
	bool began;	    /* the new pod was there */
	bool labelled;	    /* the new pod had its ReplicaSet's label */
	int64_t shown_by;   /* monotonic; by then the watch shows the last write, or never; 0 */
	uint64_t stamp;	    /* the version of the pod that was written last, before the write */
	char stamped[SIZER_UID_MAX + 1]; /* its uid; "": none */
	uint64_t action;		 /* under way; 0: none */
	enum surge_task task;
	struct surge_seen seen;
	int64_t asked_ms; /* wall clock; when the task under way began */
	int64_t seen_ms;  /* wall; 0: nothing was read */
	int64_t at_ms;	  /* monotonic; when it is looked at next */
	int32_t failures; /* of writes, in a row */
	enum surge_why why;
	uint64_t told;		      /* a hash of what people were told last */
	char blocker[SURGE_TEXT_MAX]; /* who it was, or what went wrong */
	char waits[SURGE_TEXT_MAX];   /* why the new pod waits, in the words of its condition */
};

struct surges {
	VEC_OF(struct surge *) list; /* owned */
	enum sizer_surge right;
};
void surges_finish(struct rollouts *s);
/* Takes up a surge that is not known, from a pod that has its marks. */
void surges_see(struct rollouts *s, const struct world_pod *wp, struct sizer_now now,
	const struct world *w);
/* Every step. */
void surges_step(
	struct rollouts *s, struct sizer_now now, const struct world *w, struct plan *plan);
/* The outcome of an action; false: the action is not one of a surge. */
bool surges_answer(
	struct rollouts *s, struct sizer_now now, uint64_t id, const struct outcome *outcome);
int64_t surges_deadline(const struct rollouts *s);		      /* monotonic */
void surges_drop(struct rollouts *s, const struct sized_workload *x); /* NULL: all of them */
/* Tells how a surge ended, if the replacement under way is that surge. */
void surges_settle(
	struct rollouts *s, struct sized_workload *x, const struct roll_ending *e, int64_t now_ms);

#define SURGE_AGAIN_MS 200 /* until the watch shows what was written */
/* Why no new pod can be made beside that one, a sentence; NULL: it can. */
const char *surges_unfit(
	const struct rollouts *s, const struct sized_workload *x, const struct pod *pod);
/* roll_begin was called; the end is told by rollout_settle. */
void surges_begin(struct rollouts *s, struct sized_workload *x, const struct sized_pod *p,
	const struct decision *d);

#endif
