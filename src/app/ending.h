/* The end of the controller in good order. */
#ifndef APP_ENDING_H
#define APP_ENDING_H

#include "controller.h"

/* From now on a signal ends it: not ready, what was measured written down, the Lease given back,
 * what was asked finished. A second signal ends it at once. */
void ending_on_signals(struct controller *c);
extern const struct part ending_part; /* of a controller */

#endif
