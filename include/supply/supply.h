/* What GPUs there are, as one round of the sizer saw them: the memory of each node's, what is free
 * on those that are shared, and how busy each is. */
#ifndef SUPPLY_SUPPLY_H
#define SUPPLY_SUPPLY_H

#include "supply/devices.h"
#include "supply/gpu_load.h"
#include "supply/shared_gpus.h"

struct supply {
	struct devices devices;
	struct gpus gpus;
	struct shared_gpus shared;
};

/* All of the GPU that a pod on that node has, in MiB; where nobody knows that, of the largest that
 * there is. */
static inline int64_t supply_gpu_mib(const struct supply *s, uint32_t node)
{
	int64_t mib = devices_at(&s->devices, node);
	return mib > 0 ? mib : devices_largest(&s->devices);
}

#endif
