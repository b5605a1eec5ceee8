/* When a GPURecommendation is made, its status written, or it is deleted. */
#ifndef SIZER_RECOMMENDATION_WRITE_H
#define SIZER_RECOMMENDATION_WRITE_H

#include "tracking/decision.h"
#include "tracking/tracking.h"

struct decision;
struct recommendation;
struct sized_workload;

/* False: it has to wait for its turn. */
bool write_workload(struct tracking *s, struct sized_workload *x, const struct decision *d,
	struct sizer_now now, struct plan *plan);
/* What became of a write. */
void write_settle(struct sized_workload *x, struct sizer_now now, const struct outcome *outcome);
/* Its GPURecommendation goes; false: as above. */
bool write_delete(
	struct tracking *s, struct sized_workload *x, struct sizer_now now, struct plan *plan);
struct condition_times condition_times_of(const struct recommendation *r);

#endif
