/* The end in good order: what was measured is written down, the Lease is given back, every
 * admission is answered. */
#ifndef APP_ENDING_H
#define APP_ENDING_H

#include "parts.h"

/* From now on a signal ends it: not ready, what was measured written down, the Lease given back,
 * what was asked finished. A second signal ends it at once. */
void ending_on_signals(struct controller *c);
void ending_step(struct controller *c, int64_t now);
int64_t ending_deadline(const struct controller *c);

#endif
