/* The controllers of Deployments, ReplicaSets and PodDisruptionBudgets, as Kubernetes has them as
 * far as it matters here. */
#ifndef SIM_SETS_H
#define SIM_SETS_H
#include "works.h"

void sets_committed(struct sim *s, const struct commit *c);
void sets_soon(struct sim *s);

#endif
