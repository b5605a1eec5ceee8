/* What is kept, and what a tenant lacks on a GPU that could be kept for it. */
#include "demand/keeper.h"

#include "demand/wholes.h"
#include "ledger/ledger.h"

uint32_t keeper_add(struct wholes *wholes, const struct pod *pod, bool whole)
{
	struct keeper made = {.pod = pod, .whole = whole};
	VEC_PUSH(&wholes->keepers, made);
	return (uint32_t)wholes->keepers.count;
}

void keeper_note(struct wholes *wholes, struct waiter *w, const struct place_keep *k)
{
	w->passed.kept_for = k->keeper;
	w->reason = wholes->keepers.items[k->keeper - 1].whole ? REASON_WHOLE_POD_FIRST
							       : REASON_RESERVED;
	w->miss.reason = w->reason;
	w->miss.best_node = wholes->picture->snap.nodes.items[k->node].noun->name;
}

bool lack_in_the_end(const struct place_gpu *g, const struct place_request *r, struct lack *ret)
{
	int64_t milli, mib;
	place_share(r, g->usable_mib, &milli, &mib);
	if (g->fenced || g->held_off || milli > MODEL_GPU_MILLI ||
		(g->usable_mib > 0 && mib > g->usable_mib)) {
		return false;
	}
	ret->milli = milli > g->free_milli ? milli - g->free_milli : 0;
	/* Of the other mode: whoever is there must leave first. */
	ret->milli = g->mps != r->mps ? MODEL_GPU_MILLI - g->free_milli : ret->milli;
	ret->mib = g->usable_mib > 0 && mib > g->free_mib ? mib - g->free_mib : 0;
	/* No GPU lacks so much otherwise. */
	ret->milli += g->kept_by != 0 ? 2 * MODEL_GPU_MILLI : 0;
	return true;
}
