/* C13, C39: tenants of what is taken out of service, and the capacity pods there. Nothing here
 * fails. */
#ifndef GUARDIAN_DRAIN_H
#define GUARDIAN_DRAIN_H

#include "ledger/nouns.h"

void drain_tenants(struct evictions *evictions, struct emitter *out);
void drain_capacity(
	const struct picture *picture, struct emitter *out); /* that nobody is left for */

#endif
