/* What the leader has heard of devices, from the engine to the Lease and back. */
#ifndef APP_HEARDS_H
#define APP_HEARDS_H

#include <stdint.h>

#include "engine/engine.h"
#include "kube/election.h"

/* This process leads from now on, and the engine was told so: what the Lease says of the past. */
void heards_recall(struct engine *engine, const struct election *election);
/* After each step; it writes nothing itself. */
void heards_keep(const struct engine *engine, struct election *election);

#endif
