/* C19: a pod is acted upon when our gate is its last one, and what takes the gate names the very
 * object that was judged. */
#ifndef SIM_CHECK_GATE_H
#define SIM_CHECK_GATE_H
#include "check.h"

void gate_check_placing(struct sim *s, const struct commit *c);
void gate_check_ledger(struct sim *s, const struct commit *c); /* a controller's, changed */

#endif
