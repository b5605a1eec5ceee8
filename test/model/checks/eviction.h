/* The eviction subresource, with disruption budgets as the API server applies them: what waits, is
 * over or is going already passes; of the rest of an app so many must be left. */
#ifndef SIM_EVICTION_H
#define SIM_EVICTION_H
#include "objects/sim_parts.h"

int app_of(const struct pod *p);				 /* -1: none */
bool evict_is_allowed(const struct sim *s, const struct pod *p); /* by its budget */
void apiserver_evict(struct sim *s, int actor, struct stored *o, const json_t *body,
	struct api_answer *ret_answer);

#endif
