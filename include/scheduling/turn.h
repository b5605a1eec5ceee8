/* Frameworks that are told a part of the memory look at their start how much is free, and one that
 * starts beside them changes that while they look. So of those on one GPU one starts after the
 * other: the next is placed once the one before it is Ready, or has had its time. The share is held
 * meanwhile. Whom this process did not see start gets its time anew. Nothing here fails. */
#ifndef SCHEDULING_TURN_H
#define SCHEDULING_TURN_H

#include <stdint.h>

#include "base/vec.h"
#include "ledger/nouns.h"

/* A tenant that starts. */
struct turn {
	char *uid; /* owned */
	int64_t since;
};

struct turns {
	struct picture *picture; /* borrowed */
	VEC_FIELDS(struct turn);
};

/* Who starts on one of the GPUs that the waiter was granted, and until when that holds it back;
 * NULL: nobody. The step is woken then. */
const struct world_pod *turn_of_another(
	struct turns *turns, const struct waiter *w, int64_t *ret_until);
void turn_begins(struct turns *turns, const struct waiter *w); /* it is being placed */
void turns_sweep(struct turns *turns);
void turns_finish(struct turns *all); /* it is empty then, and may be used on */

#endif
