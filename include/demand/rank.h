/* Step 3 of the engine: who waits, in the order in which they are looked at. Nothing here fails. */
#ifndef DEMAND_RANK_H
#define DEMAND_RANK_H

#include "base/vec.h"
#include "ledger/nouns.h"

/* Those who wait, in the order in which they are looked at. */
struct ranked {
	VEC_FIELDS(struct waiter *); /* borrowed */
};

/* What the next ranking needs of the last, and scratch; the engine owns it. */
struct ranking {
	uint64_t last;	     /* the step in which it was done; 0: none yet */
	struct ranked kept;  /* by their last rank; NULL: it has left */
	struct ranked fresh; /* who have none */
};

void rank_waiters(struct ranking *r, const struct picture *picture, struct ranked *ranked);
void ranking_finish(struct ranking *r);
/* Less than 0: the first comes before the second. By priority and age, and by those alone. */
int pod_rank_class(const struct pod *a, const struct pod *b);
int pod_rank(const struct pod *a, const struct pod *b); /* then by name */

#endif
