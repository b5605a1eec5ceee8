/* C21: tenants that were placed and that the scheduler cannot bind. Nothing here fails. */
#ifndef GUARDIAN_RECYCLE_H
#define GUARDIAN_RECYCLE_H

#include "ledger/nouns.h"

void recycle_tenants(
	struct evictions *evictions, struct gpu_avoidances *avoidances, struct emitter *out);

#endif
