/* Which nodes publish GPUs through DRA: one small record a ResourceSlice of NVIDIA's driver. */
#ifndef WORLD_SLICES_H
#define WORLD_SLICES_H

#include "store.h"

/* GPUs that are published through DRA */
void slices_init(struct world *w);
void slices_finish(struct world *w);
void slices_set(struct world *w, const struct gpu_slice *s);
void slices_gone(struct world *w, const char *name);
void slices_keep(struct world *w, const char *name);
void slices_sweep(struct world *w, uint32_t mark);
bool slices_agree(const struct world *w);

#endif
