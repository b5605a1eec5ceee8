/* How many pods each group takes, and how many workloads it makes of them. */
#ifndef SIZER_GATHERS_H
#define SIZER_GATHERS_H

#include <stdint.h>

#include "base/vec.h"

struct gathered_one {
	uint64_t hash; /* of the group's name */
	int32_t pods, workloads;
};

struct gathered {
	VEC_FIELDS(struct gathered_one);
};

/* Of the last round, and of this. */
struct gathers {
	struct gathered told, counted;
};

struct sized_workload;
struct gathered_one *gathers_find(const struct gathered *all, uint64_t hash); /* NULL: none */
void gathers_begin(struct gathers *g);
void gathers_count(struct gathers *g, const struct sized_workload *x);
void gathers_end(struct gathers *g);
void gathers_finish(struct gathers *g);

#endif
