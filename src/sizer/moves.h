/* Tenants that their neighbours leave too little compute, and that go to another GPU for it
 * (docs/design/rolling.md#a-move). Who may go, and when, is said here; how he goes is rolls.c's.
 *
 * All of it is this process's memory alone: after a restart contention has to last anew. */
#ifndef SIZER_MOVES_H
#define SIZER_MOVES_H

#include <stdint.h>

#include "base/vec.h"
#include "sizer/sizer.h"

struct arena;
struct decision;
struct sized;
struct sized_feed;
struct sized_pod;

struct move {
	uint64_t workload;	     /* a hash of whose */
	uint64_t room;		     /* a hash of the capacity pod's name: from there */
	uint32_t gpu;		     /* gpus_at: the same */
	int64_t at_ms, rest_ms;	     /* for so long who came with it stays */
	char uid[SIZER_UID_MAX + 1]; /* who goes */
};

struct moves {
	struct {
		VEC_FIELDS(struct move);
	} list; /* in their order */
	struct {
		VEC_FIELDS(struct sizer_wish);
	} back; /* what the engine is told in the next step: they did not go */
};

void moves_finish(struct moves *m);
/* Of the round: it was judged whether it is pressed. */
void moves_tally(struct sizer *s, const struct sized_pod *p, struct sized_feed *f, int64_t now_ms);
/* Who of it may go now, the longest contended first; NULL: nobody yet. `ret_next_ms`: when the next
 * one may; 0: nobody is contended. What rests no longer is forgotten. */
struct sized_pod *moves_pick(
	struct sizer *s, const struct sized *x, const struct decision *d, int64_t *ret_next_ms);
/* Whence it goes and whence others of its workload went, to which the engine brings none of it
 * while there is another GPU: hashes of the capacity pods' names. In the arena. */
const uint64_t *moves_left(const struct sizer *s, const struct sized_pod *p,
	const struct decision *d, struct arena *a, uint32_t *ret_count);
/* He goes: the engine is told, and whoever else is on that GPU waits whether it helped. */
void moves_begin(struct sizer *s, const struct sized_pod *p, const struct decision *d);
/* The replacement that began then was refused: if it was a move, it was none, and the engine is
 * told in the next step. */
void moves_cancel(struct sizer *s, const struct sized *x, int64_t begun_ms, int64_t now_ms);
void moves_hand_back(struct sizer *s);

#endif
