/* One surge in one step. */
#ifndef ROLLOUTS_SURGE_TURN_H
#define ROLLOUTS_SURGE_TURN_H

#include "rollouts/rollouts.h"

/* It has no action under way. */
void surge_turn(struct rollouts *s, struct surge *g, struct sizer_now now, const struct world *w,
	struct plan *plan);

#endif
