/* Frameworks that are told a part of the memory look at their start how much is free, and one that
 * starts beside them changes that while they look. So of those on one GPU one starts after the
 * other: the next is placed once the one before it is Ready, or has had its time. The share is held
 * meanwhile. Whom this process did not see start gets its time anew. Nothing here fails. */
#ifndef SCHEDULING_STARTUP_ORDER_H
#define SCHEDULING_STARTUP_ORDER_H

#include <stdint.h>

#include "base/vec.h"
#include "ledger/nouns.h"

/* A tenant that starts. */
struct startup {
	char *uid; /* owned */
	int64_t since;
};

struct startup_order {
	struct picture *picture; /* borrowed */
	VEC_FIELDS(struct startup);
};

/* Who starts on one of the GPUs that the waiter was granted, and until when that holds it back;
 * NULL: nobody. The step is woken then. */
const struct world_pod *startup_before(
	struct startup_order *order, const struct waiter *w, int64_t *ret_until);
void startup_begins(struct startup_order *order, const struct waiter *w); /* it is being placed */
void startup_order_sweep(struct startup_order *order);
void startup_order_finish(struct startup_order *all); /* it is empty then, and may be used on */

#endif
