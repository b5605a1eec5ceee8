/* What evictions free for a waiter is nobody else's for a while (C17). Until its victims have gone
 * and it has been granted its share, the picture of every step shows that share as taken, for
 * everybody but itself: on each of the GPUs that it is to have, and of the node CPU, memory and a
 * slot. A minute after the last look that found it still needed it is given up. It is remembered by
 * this process alone: after a change of leader whoever ranks first gets what was freed. The waiter
 * owns it. Nothing here fails. */
#ifndef LEDGER_EVICTION_HOLD_H
#define LEDGER_EVICTION_HOLD_H

#include "ledger/nouns.h"
#include "model/gpu.h"

struct place_group;

struct hold {
	char *uuid;		/* owned; of the GPUs, a list; NULL: nothing is held */
	int64_t milli, mem_mib; /* on each */
	int64_t until;
	/* in the snapshot of this step: where it takes something */
	uint32_t at[MODEL_GPU_COUNT_MAX];
	uint32_t count;
};

void hold_make(
	struct step_time *time, struct waiter *w, const char *uuid, const struct place_verdict *v);
bool hold_is_on(const struct waiter *w, uint32_t gpu); /* of the snapshot */
void holds_count(struct picture *picture); /* in the snapshot, after holders and tenants */
/* The waiter's own is no obstacle to itself: lifted before it is judged, settled after; `v` is
 * where it goes, NULL: nowhere. */
void hold_lift(struct picture *picture, struct waiter *w);
void hold_settle(struct picture *picture, struct waiter *w, const struct place_verdict *v);
/* The same on several GPUs; `count` 0: nowhere. */
void hold_settle_group(struct picture *picture, struct waiter *w, const struct place_group *g);

#endif
