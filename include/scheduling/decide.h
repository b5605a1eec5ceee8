/* Step 4 of the engine: where each of those who wait goes. What is decided stands in the engine's
 * scratch and in the plan; nothing here fails. */
#ifndef SCHEDULING_DECIDE_H
#define SCHEDULING_DECIDE_H

#include "ledger/nouns.h"

void decide(struct scheduling *sched, struct emitter *out);

#endif
