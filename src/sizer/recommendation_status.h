/* What a GPURecommendation should say. */
#ifndef SIZER_RECOMMENDATION_STATUS_H
#define SIZER_RECOMMENDATION_STATUS_H

#include "tracking/decision.h"
#include "tracking/tracking.h"

void say_recommendation(const struct sized_workload *x, const struct decision *d, struct arena *a,
	struct recommendation *r);
/* Of what is written; `urgent`: without figures that change all the time. */
uint64_t say_digest(const struct recommendation *r, bool urgent);

#endif
