/* C29: tenants that ended because a GPU had no memory left. Nothing here fails. */
#ifndef GUARDIAN_CONTENTION_H
#define GUARDIAN_CONTENTION_H

#include "ledger/nouns.h"

/* One tenant. False: it has never run out of memory. */
bool failure_look(struct overuses *overuses, const struct world_pod *p, int64_t policy_ms,
	struct emitter *out);

#endif
