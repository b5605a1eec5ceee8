/* Whom GPUs and nodes are kept for in the picture of a step, by number, and what is missing on a
 * GPU for a share. Nothing here fails or lasts. */
#ifndef DEMAND_KEEPER_H
#define DEMAND_KEEPER_H

#include "ledger/nouns.h"

struct place_keep;

/* Whom something is kept for. */
struct keeper {
	const struct pod *pod; /* borrowed for the step */
	bool whole;
	bool held; /* evictions have freed it for that pod */
};

/* Something is kept for this pod: its number. */
uint32_t keeper_add(struct wholes *wholes, const struct pod *pod, bool whole);
/* It could have this, which is kept for somebody who ranks before it. */
void keeper_note(struct wholes *wholes, struct waiter *w, const struct place_keep *k);

/* What is missing on a GPU for a share of this size. */
struct lack {
	int64_t milli, mib;
};
/* False: it is no GPU for it. What is kept for somebody before it may be of use afterwards;
 * anything else is nearer. */
bool lack_in_the_end(const struct place_gpu *g, const struct place_request *r, struct lack *ret);

#endif
