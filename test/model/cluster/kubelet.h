/* The kubelets and their device manager. */
#ifndef SIM_KUBELET_H
#define SIM_KUBELET_H
#include "objects/sim_parts.h"

void kubelet_committed(struct sim *s, const struct commit *c);

#endif
