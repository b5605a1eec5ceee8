/* C16, C17. Pods that ask for whole GPUs are ranked together with tenants: when the walk over those
 * who wait comes to one of them, what it could have goes out of the picture, for whoever ranks
 * lower. docs/design/fairness.md. Nothing here fails. */
#ifndef SCHEDULING_WHOLE_H
#define SCHEDULING_WHOLE_H

#include "ledger/nouns.h"

/* Who waits now, by rank; before needs_count. */
void wholes_rank(struct wholes *wholes);
/* The walk has come to this tenant: keeps for all whole pods that rank before it what they could
 * have. NULL: for the rest of them. */
void wholes_until(struct wholes *all, const struct pod *tenant, struct emitter *out);

#endif
