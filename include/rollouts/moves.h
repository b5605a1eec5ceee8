/* A tenant moves to another GPU where its neighbours leave it too little compute
 * (docs/design/rolling.md#a-move). This says which tenant may move, and when; rollouts.c replaces
 * it.
 *
 * All of this is kept in memory alone: after a restart contention has to last anew. */
#ifndef ROLLOUTS_MOVES_H
#define ROLLOUTS_MOVES_H

#include "base/vec.h"
#include "tracking/sizer_config.h"

struct arena;
struct decision;
struct sized_workload;
struct rollouts;
struct gpus;
struct heal_feed;
struct sized_pod;

struct move {
	uint64_t workload;	     /* a hash of the workload */
	uint64_t room;		     /* a hash of the capacity pod's name that it leaves */
	uint32_t gpu;		     /* the GPU that it leaves (gpus_at) */
	int64_t at_ms, rest_ms;	     /* when, and how long nobody else leaves that GPU */
	char uid[SIZER_UID_MAX + 1]; /* the pod that moves */
};

struct moves {
	VEC_OF(struct move) list; /* in the order of at_ms */
	/* moves that did not happen, as the engine is told in the next step */
	VEC_OF(struct resize_request) back;
};

void moves_finish(struct moves *m);
/* Counts a pod for the round, after it was judged whether it is pressed. */
void moves_tally(struct gpus *gpus, const struct sized_pod *p, struct heal_feed *h, int64_t now_ms);
/* The pod of the workload that may move now, the longest contended first; NULL: none yet.
 * `ret_next_ms`: when the next one may; 0: no pod is contended. Moves whose rest is over are
 * forgotten. */
struct sized_pod *moves_pick(struct rollouts *s, const struct sized_workload *x,
	const struct decision *d, int64_t *ret_next_ms);
/* The GPUs that this pod and others of its workload leave, to which the engine brings none of them
 * while there is another GPU: hashes of the capacity pods' names. In the arena. */
const uint64_t *moves_left(const struct rollouts *s, const struct sized_pod *p,
	const struct decision *d, struct arena *a, uint32_t *ret_count);
/* The pod moves: the engine is told, and the others on that GPU wait to see whether it helped. */
void moves_begin(struct rollouts *s, const struct sized_pod *p, const struct decision *d);
/* The replacement that began at that time was refused: if it was a move, it does not happen, and
 * the engine is told in the next step. */
void moves_cancel(
	struct rollouts *s, const struct sized_workload *x, int64_t begun_ms, int64_t now_ms);
void moves_hand_back(struct rollouts *s);

#endif
