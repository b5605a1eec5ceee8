/* Every write, judged by the rules. */
#ifndef SIM_CHECK_H
#define SIM_CHECK_H
#include "objects/sim_parts.h"

void check_finish(struct sim *s);

void check_commit(struct sim *s, const struct commit *c);

#endif
