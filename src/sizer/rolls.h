/* Once a round: is a pod of this workload replaced? */
#ifndef SIZER_ROLLS_H
#define SIZER_ROLLS_H

#include "state.h"

/* Called once the workload's target is decided, and before its status is written. Returns how many
 * units of work it took. */
uint32_t rolls_step(struct sizer *s, struct sized *x, struct decision *d, struct plan *plan);

#endif
