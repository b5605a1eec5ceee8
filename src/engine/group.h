/* A tenant of several GPUs (gpu-count): the same share on each of k GPUs of one node, or nothing.
 *
 * Its entries are k compare-and-swaps on k capacity pods, so some may hold and others not. It is
 * told only when all k are acknowledged. Entries are asked for only when the picture has all k GPUs
 * open and free at once; what comes to be held of fewer is completed, or given back after a time,
 * so that no two such tenants wait for each other's half for ever. Owned by the waiter; nothing
 * here fails. */
#ifndef ENGINE_GROUP_H
#define ENGINE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "nouns.h"

struct group {
	/* C7: what entries still say that it is not told any more, of step `stale_step` */
	int64_t stale_milli;
	uint64_t stale_step;
	uint32_t count;	 /* GPUs it asks for, as of the pod that is known; 0: nothing is known */
	bool unreadable; /* somebody wrote what is no number */
	/* Capacity pods, by their uids' hashes, whose entries for it count as dead until none is
	 * left. An entry that comes later, by another who leads, is not among them. */
	struct {
		VEC_FIELDS(uint64_t);
	} gives;
	/* the first step that saw fewer entries than it needs; 0: none or all. Milliseconds */
	int64_t partial_since;
	/* On which capacity pods, as one number: in step `granted_step`, and when that began. Who
	 * gives to it anew begins anew. */
	uint64_t set, partial_set;
	uint32_t best_count; /* how many GPUs the best node has for it; of the last look */
	struct {
		VEC_FIELDS(struct granted {
			struct holder *holder;
			uint32_t index; /* in its ledger */
		});
	} granted; /* in step `granted_step` of the waiter; only where it asks for several */
};

static inline uint32_t group_size(const struct group *g)
{
	return g->count > 1 ? g->count : 1;
}
/* True: there might be GPUs for it, and none fit it now. */
bool group_decide(struct scheduling *sched, struct waiter *w, struct emitter *out);

#endif
