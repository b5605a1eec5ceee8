/* One surge in one step. */
#ifndef SIZER_SURGE_TURN_H
#define SIZER_SURGE_TURN_H

#include "surges.h"

/* It has no action under way. */
void surge_turn(struct sizer *s, struct surge *g, struct sizer_now now, const struct world *w,
	struct plan *plan);

#endif
