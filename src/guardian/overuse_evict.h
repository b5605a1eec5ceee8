/* Who must go because a GPU is short of memory. Nothing here fails. */
#ifndef GUARDIAN_OVERUSE_EVICT_H
#define GUARDIAN_OVERUSE_EVICT_H

#include "ledger/nouns.h"

/* GPUs of the node that is judged, on which somebody must go */
void crowds_relieve(struct overuses *all, struct emitter *out);

#endif
