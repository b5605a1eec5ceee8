/* When a GPURecommendation is made, its status written, or it is deleted. */
#ifndef SIZER_WRITE_H
#define SIZER_WRITE_H

#include "state.h"

struct decision;
struct recommendation;
struct sized;

/* False: it has to wait for its turn. */
bool write_workload(struct sizer *s, struct sized *x, const struct decision *d,
	struct sizer_now now, struct plan *plan);
/* What became of a write. */
void write_settle(struct sized *x, struct sizer_now now, const struct outcome *outcome);
/* Its GPURecommendation goes; false: as above. */
bool write_delete(struct sizer *s, struct sized *x, struct sizer_now now, struct plan *plan);
struct sized_said sized_said_of(const struct recommendation *r);

#endif
