/* The life of capacity pods after they were asked for. Nothing here fails. */
#ifndef CAPACITY_CAPACITY_LIFECYCLE_H
#define CAPACITY_CAPACITY_LIFECYCLE_H

#include "ledger/nouns.h"

void capacity_tend(struct injecting *inject, struct wholes *wholes, const struct ranked *ranked,
	struct emitter *out);

#endif
