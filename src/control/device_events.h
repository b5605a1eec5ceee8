/* What the leader has heard of devices, from the engine to the Lease and back. */
#ifndef CONTROL_DEVICE_EVENTS_H
#define CONTROL_DEVICE_EVENTS_H

#include "engine/engine.h"
#include "kube/election.h"

/* This process leads from now on, and the engine was told so: what the Lease says of the past. */
void device_events_recall(struct engine *engine, const struct election *election);
/* After each step; it writes nothing itself. */
void device_events_keep(const struct engine *engine, struct election *election);

#endif
