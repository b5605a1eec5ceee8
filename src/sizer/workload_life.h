/* How long a workload is remembered, and what goes with it. */
#ifndef SIZER_WORKLOAD_LIFE_H
#define SIZER_WORKLOAD_LIFE_H

#include "sizer_state.h"

/* The workload goes, and with it what is under way for it. It has no pods. */
void workload_remove(struct sizer *s, struct sized_workload *x);
/* Containers that no pod has had for long go. */
void workload_drop_containers(struct sizer *s, struct sized_workload *x, int64_t now_ms);
/* Nobody will ask for it again, as far as anyone can tell. */
bool workload_is_forgotten(
	const struct sizer_config *config, const struct sized_workload *x, int64_t now_ms);

#endif
