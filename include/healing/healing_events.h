/* Events about healing. */
#ifndef HEALING_HEALING_EVENTS_H
#define HEALING_HEALING_EVENTS_H

#include "tracking/decision.h"
#include "tracking/tracking.h"

/* What happened since the last decision, of each container. */
void emit_healing_events(struct write_pace *pace, struct sized_workload *x,
	const struct decision *d, struct plan *plan);

#endif
