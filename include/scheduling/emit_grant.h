/* Shares that were decided, as writes: into the ledgers of capacity pods, and to the tenants once
 * that was acknowledged. Nothing here fails. */
#ifndef SCHEDULING_EMIT_GRANT_H
#define SCHEDULING_EMIT_GRANT_H

#include "ledger/nouns.h"
#include "model/injection.h"

struct turns;

void emit_grants(struct scheduling *sched, struct emitter *out);
void emit_place(struct scheduling *sched, struct waiter *w, struct holder *h, const struct grant *g,
	struct emitter *out);
/* The same on several GPUs: lists, as model/gpu.h says. */
struct placing {
	const char *node, *uuid, *capacity_pod;
	int64_t milli, mem_mib, device_mib; /* the last: all of the largest of them */
	enum inject_form form;
};
void emit_placing(
	struct turns *turns, struct waiter *w, const struct placing *where, struct emitter *out);

#endif
