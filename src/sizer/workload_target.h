/* What each workload should have. */
#ifndef SIZER_WORKLOAD_TARGET_H
#define SIZER_WORKLOAD_TARGET_H

#include "supply/supply.h"
#include "tracking/decision.h"
#include "tracking/tracking.h"

/* Into its containers. False: nobody knows by which policy. */
bool decide_workload(
	struct tracking *s, struct supply *supply, struct sized_workload *x, struct decision *d);

#endif
