/* Conditions about healing. */
#ifndef SIZER_HEALING_STATUS_H
#define SIZER_HEALING_STATUS_H

#include "tracking/decision.h"
#include "tracking/tracking.h"

void heals_say(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct recommendation *r);

#endif
