/* What evictions free for a waiter is nobody else's for a while (C17). Until its victims have gone
 * and it has been granted its share, the picture of every step shows that share as taken, for
 * everybody but itself; of the node it keeps CPU, memory and a slot. A minute after the last look
 * that found it still needed it is given up. It is remembered by this process alone: after a change
 * of leader whoever ranks first gets what was freed. The waiter owns it. Nothing here fails. */
#ifndef ENGINE_HOLD_H
#define ENGINE_HOLD_H

#include <stdint.h>

struct engine;
struct place_verdict;
struct waiter;

struct hold {
	char *uuid; /* owned; of the GPU; NULL: nothing is held */
	int64_t milli, mem_mib;
	int64_t until;
	uint32_t at; /* in the snapshot of this step; WORLD_NONE: it takes nothing there */
};

void hold_make(struct engine *e, struct waiter *w, const char *uuid, const struct place_verdict *v);
void hold_drop(struct waiter *w);
void holds_count(struct engine *e); /* in the snapshot, after holders and tenants */
/* The waiter's own is no obstacle to itself: lifted before it is judged, settled after; `v` is
 * where it goes, NULL: nowhere. */
void hold_lift(struct engine *e, struct waiter *w);
void hold_settle(struct engine *e, struct waiter *w, const struct place_verdict *v);

#endif
