/* Counted in each round, told when it has ended. */
#include "gathers.h"

#include "tracking/tracking.h"

struct gathered_one *gathers_find(const struct gathered *all, uint64_t hash)
{
	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].hash == hash) {
			return &all->items[i];
		}
	}
	return NULL;
}

void gathers_begin(struct gathers *g)
{
	VEC_CLEAR(&g->counted);
}

void gathers_count(struct gathers *g, const struct sized_workload *x)
{
	if (x->gathered == 0 || x->pods == 0) {
		return;
	}
	struct gathered_one *one = gathers_find(&g->counted, x->gathered);
	if (one == NULL) {
		struct gathered_one fresh = {.hash = x->gathered};
		VEC_PUSH(&g->counted, fresh);
		one = &g->counted.items[g->counted.count - 1];
	}
	one->pods += (int32_t)x->pods;
	one->workloads++;
}

void gathers_end(struct gathers *g)
{
	struct gathered last = g->told;
	g->told = g->counted;
	g->counted = last;
	VEC_CLEAR(&g->counted);
}

void gathers_finish(struct gathers *g)
{
	VEC_FINISH(&g->told);
	VEC_FINISH(&g->counted);
}
