/* Pods for whole GPUs that the scheduler has found no node for, and who ranks before whom. */
#ifndef SIM_PENDING_PODS_H
#define SIM_PENDING_PODS_H
#include "sim_parts.h"

bool fair_is_pending(const struct stored *o);
bool fair_is_before(const struct pod *a, const struct pod *b);

#endif
