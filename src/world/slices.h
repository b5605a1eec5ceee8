/* Which nodes publish GPUs through DRA: one small record a ResourceSlice of NVIDIA's driver. */
#ifndef WORLD_SLICES_H
#define WORLD_SLICES_H

#include "store.h"

void slices_init(struct world *w);
void slices_set(struct world *w, const struct gpu_slice *s);

#endif
