/* C17 among tenants, one GPU or several: who has lacked room for longer than patience has reserved
 * what it waits for, and nobody who ranks lower is given any of it. */
#ifndef SIM_CHECK_OVERTAKE_H
#define SIM_CHECK_OVERTAKE_H
#include "objects/sim_parts.h"

/* Once a second; `replica` could see and write all of it, -1: nobody */
void overtake_look(struct sim *s, int replica);
void overtake_check(struct sim *s, const struct stored *t, const char *node);
void overtake_finish(struct sim *s);

#endif
