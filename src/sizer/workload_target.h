/* What each workload should have. */
#ifndef SIZER_WORKLOAD_TARGET_H
#define SIZER_WORKLOAD_TARGET_H

#include "state.h"

/* Into its containers. False: nobody knows by which policy. */
bool decide_workload(struct sizer *s, struct sized *x, struct decision *d);

#endif
