/* How much is kept of a pod. */
#ifndef PODS_POD_BOUNDS_H
#define PODS_POD_BOUNDS_H

#include "json/fields.h"
#include "model/pod.h"

/* At last: leaves out what is more of it than is kept. */
void pod_bound(struct arena *arena, struct pod *pod);

#endif
