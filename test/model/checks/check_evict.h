/* I5: for what a tenant may be taken down. */
#ifndef SIM_CHECK_EVICT_H
#define SIM_CHECK_EVICT_H
#include "check.h"

void check_note_waiting(struct sim *s, const struct stored *o);
void check_note_lost(struct sim *s, const struct commit *c);
void check_eviction(struct sim *s, const struct stored *o); /* a controller's, about to be done */

#endif
