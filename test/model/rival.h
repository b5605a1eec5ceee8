/* Halves that last. */
#ifndef SIM_RIVAL_H
#define SIM_RIVAL_H

#include "sim_parts.h"

void rival_committed(struct sim *s, const struct commit *c);

#endif
