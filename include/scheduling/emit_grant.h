/* Shares that were decided, as writes: into the ledgers of capacity pods, and to the tenants once
 * that was acknowledged. Nothing here fails. */
#ifndef SCHEDULING_EMIT_GRANT_H
#define SCHEDULING_EMIT_GRANT_H

#include <stddef.h>

#include "ledger/nouns.h"

struct chosen;
struct granted;

/* One more entry for the ledger of that GPU. */
void note_chosen(struct scheduling *sched, const struct chosen *c);
void emit_grants(struct scheduling *sched, struct emitter *out);
/* The tenant is told the GPUs that it stands in the ledgers of, in the order of their UUIDs, so
 * that one placed anew finds them in the same order; unless another starts there first
 * (startup_order.h). Of more than it asks for the first are its own. */
void emit_place(struct scheduling *sched, struct waiter *w, struct granted *on, size_t count,
	struct emitter *out);

#endif
