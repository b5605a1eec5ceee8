/* C17 where several GPUs could do: who has lacked room for longer than patience keeps the one on
 * which the least is missing, and nobody who ranks lower is given a share there, wherever else it
 * may go. */
#ifndef SIM_CHECK_NEAREST_H
#define SIM_CHECK_NEAREST_H
#include "objects/sim_parts.h"

void nearest_begin(struct sim *s);
bool nearest_lacks(struct sim *s, const struct stored *t, int replica);
void nearest_check(struct sim *s, int replica, const struct action *a); /* a ledger is sent */

#endif
