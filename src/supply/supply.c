/* The three views together. */
#include "supply/supply.h"

void supply_init(struct supply *s)
{
	devices_init(&s->devices);
	gpus_init(&s->gpus);
}

void supply_finish(struct supply *s)
{
	devices_finish(&s->devices);
	gpus_finish(&s->gpus);
	VEC_FINISH(&s->shared.list);
}

int64_t supply_gpu_mib(const struct supply *s, uint32_t node)
{
	int64_t mib = devices_at(&s->devices, node);
	return mib > 0 ? mib : devices_largest(&s->devices);
}
