/* What somebody else knows of the time before us (sizer/past.h), for the parts of the sizer. */
#ifndef SIZER_PAST_PARTS_H
#define SIZER_PAST_PARTS_H

#include "state.h"

/* Of a workload of which nothing is known; one at a time. */
void past_want(struct sizer *s, struct sized *x, const struct decision *d);
void past_finish(struct sizer *s);

#endif
