/* What the API server lets a writer change about a pod, as far as it matters here: gates only go,
 * node affinity is only narrowed and only while gated, a node is only given once, by binding. */
#ifndef SIM_RULES_H
#define SIM_RULES_H
#include "objects/sim_parts.h"

/* NULL, or why the API server refuses this change of a pod. */
const char *rules_check_pod(const json_t *before, const json_t *after);
/* False: the placement is of a term that is over. `lease` NULL: there is none. */
bool rules_fence(const json_t *lease, const json_t *before, const json_t *after);

#endif
