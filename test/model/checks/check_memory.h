/* Is whoever is sent away for its memory over its share, by what an agent has seen not long before,
 * and is its GPU short of memory? Judged when it is decided, for a request may be late. */
#ifndef SIM_CHECK_MEMORY_H
#define SIM_CHECK_MEMORY_H
#include "objects/sim_parts.h"

void greed_finish(struct greed *g);
/* A controller decides; an eviction is done; was it sent away for its memory? */
void memory_intended(struct sim *s, int replica, const struct action *a);
void memory_evicted(struct sim *s, int replica, const struct stored *o);
bool memory_excuses(const struct sim *s, const struct stored *o);

#endif
