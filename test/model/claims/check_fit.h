/* Whether a tenant could ever be placed, and whether a ledger still counts. */
#ifndef SIM_CHECK_FIT_H
#define SIM_CHECK_FIT_H
#include "objects/sim_parts.h"

/* Whatever is there now: some GPU is large enough for the tenant, on a node that it may use. */
bool check_could_ever_fit(struct sim *s, const struct pod *p);
bool check_ledger_lives(const struct sim *s, const struct stored *capacity);
/* Do its own rules about nodes allow this one? */
bool check_selects(const struct pod *p, const struct node *n);

#endif
