/* Disruption budgets: may one pod more go? */
#ifndef SIM_BUDGETS_H
#define SIM_BUDGETS_H
#include "objects/sim_parts.h"

/* May it be evicted, by the budgets that select it? Counted if so. NULL: it may; else why not. */
const char *budgets_forbid(struct sim *s, const struct stored *o, bool counts);

#endif
