/* The way back to whole GPUs, for pods that wait in vain (C35). */
#ifndef SIZER_RETURNS_H
#define SIZER_RETURNS_H

#include "state.h"

/* Tenants that wait in vain are taken down, so that new pods come with whole GPUs. */
void returns_step(struct sizer *s, struct sized *x, const struct decision *d, struct plan *plan);

#endif
