/* Events and conditions about healing. */
#ifndef SIZER_HEALS_SAY_H
#define SIZER_HEALS_SAY_H

#include "state.h"

void heals_tell(struct sizer *s, struct sized *x, const struct decision *d, struct plan *plan);
void heals_say(
	const struct sized *x, const struct decision *d, struct arena *a, struct recommendation *r);

#endif
