/* C16, C17. Pods that ask for whole GPUs and that the scheduler has looked for in vain: what is
 * remembered of each, and what a step finds out about them. Who serves them is scheduling/whole.c.
 * Nothing here fails. */
#ifndef DEMAND_WHOLES_H
#define DEMAND_WHOLES_H

#include "base/alloc.h"
#include "base/table.h"
#include "base/vec.h"
#include "ledger/nouns.h"
#include "model/pod.h"
#include "place/place.h"

struct place_keep;

/* Whom GPUs and nodes are kept for, in the picture of a step. */
struct keeper {
	const struct pod *pod; /* borrowed for the step */
	bool whole;
	bool held; /* evictions have freed it for that pod */
};

/* Rests grow so often. */
#define WHOLE_RESTS_MAX 4

/* What is remembered of one, by uid. */
struct whole {
	struct table_row row; /* its uid, in no namespace */
	char *uid;	      /* owned */
	struct arena arena;   /* of `pod` */
	struct pod pod;	      /* as of `stamp` */
	uint64_t stamp;
	int64_t since;	    /* it was met first */
	int64_t offered_at; /* since when the scheduler could bind it, as far as we judge; -1: it
			       cannot */
	int64_t rest_until; /* nothing is kept for it: it was offered GPUs in vain */
	uint32_t rests;
	bool fits;	     /* in this step, somewhere */
	bool told;	     /* what is in its way */
	int64_t lacks_since; /* it fits nowhere, as far as we judge; -1: that is not so */
	int64_t preempt_at;  /* whom it could displace is not looked for before */
	char *hold;	     /* owned; GPUs that evictions free for it, a list; NULL: none */
	int64_t hold_until;
};

/* Of one node of the snapshot. */
struct whole_room {
	int64_t idle;	  /* capacity pods that nobody needs */
	int64_t leaving;  /* those on their way out */
	int64_t used;	  /* thousandths that tenants have */
	int64_t promised; /* GPUs to whole pods that it is kept for */
	/* what GPU pods take there, all of which may end */
	int64_t cpu_milli, mem_bytes, slots;
};

struct wholes {
	struct picture *picture; /* borrowed, as are these */
	struct needs *needs;
	struct table all; /* of struct whole; met in this step, or to be forgotten */
	int64_t told_at;  /* when the last event was asked for; 0: never */

	/* the step's scratch */
	VEC_OF(struct whole *) ranked;
	size_t next;			 /* of ranked: those before were looked at */
	VEC_OF(struct keeper) keepers;	 /* by number, counted from 1 */
	VEC_OF(struct whole_room) rooms; /* by node */
	bool rooms_begun, rooms_known, guests_known;
	uint32_t drained;  /* nodes that get no new shares */
	uint32_t looks;	   /* for such a node */
	uint32_t reserved; /* GPUs, for tenants */
	uint32_t behind;   /* tenants for which all that would do was reserved already */
};

void wholes_init(struct wholes *wholes, struct needs *needs);
void wholes_finish(struct wholes *wholes);
struct whole *whole_touch(struct wholes *wholes, const char *uid, int64_t now);
struct whole *whole_find(const struct wholes *wholes, const char *uid);
/* Evictions free something for it, that it has not got yet. */
bool whole_is_held(const struct wholes *wholes, const struct whole *w);

/* Something is kept for this pod: its number. */
uint32_t keeper_add(struct wholes *wholes, const struct pod *pod, bool whole);
/* It could have this, which is kept for somebody who ranks before it. */
void keeper_note(struct wholes *wholes, struct waiter *w, const struct place_keep *k);

/* Some share was taken out of the picture: what is idle may be so no more. */
void wholes_picture_changed(struct wholes *wholes);
/* All that the scheduler may refuse it for is judged here. */
bool whole_is_judged(const struct pod *p);
void wholes_know_rooms(struct wholes *wholes);
/* Might this GPU go for a whole pod? */
bool snap_gpu_is_idle(const struct picture *picture, uint32_t gpu);
/* GPUs that it can have on the node, idle capacity pods and those on their way out counted. */
int64_t whole_obtainable(const struct wholes *wholes, uint32_t node);
/* Of the nodes where it fits, the one that is nearest to it; PLACE_NOWHERE: it fits nowhere.
 * `keeper` not 0: nobody opens a GPU on any of them. */
uint32_t whole_best_node(struct wholes *wholes, const struct place_request *r, uint32_t keeper);

#endif
