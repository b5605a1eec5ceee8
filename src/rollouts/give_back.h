/* The way back to whole GPUs, for pods that wait in vain (C35). */
#ifndef ROLLOUTS_GIVE_BACK_H
#define ROLLOUTS_GIVE_BACK_H

#include "rollouts/rollouts.h"

/* Tenants that wait in vain are taken down, so that new pods come with whole GPUs. */
void returns_step(
	struct rollouts *s, struct sized_workload *x, const struct decision *d, struct plan *plan);

#endif
