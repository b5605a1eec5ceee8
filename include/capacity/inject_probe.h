/* Probes: asked for, judged, and let go. Nothing here fails. */
#ifndef CAPACITY_INJECT_PROBE_H
#define CAPACITY_INJECT_PROBE_H

#include "ledger/nouns.h"

/* After the decisions of a step. */
void inject_tend(struct injecting *inject, struct emitter *out);
void inject_settle(struct injecting *inject, int64_t now, uint64_t id, const struct outcome *o);

#endif
