/* C23 the other way round: nobody waits longer than the delay and the rate allow without a word
 * why. */
#ifndef SIM_DELAY_H
#define SIM_DELAY_H
#include "objects/sim_parts.h"

void delay_start(struct sim *s);
void delay_finish(struct sim *s);
void delay_told(struct sim *s, const char *uid);

#endif
