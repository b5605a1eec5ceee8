/* The object of a pod as the world keeps it, read whole; and which GPUPolicy holds for a pod, as
 * policies are now: not as they were when it was admitted. */
#ifndef LEDGER_POD_OBJECT_H
#define LEDGER_POD_OBJECT_H

#include "ledger/nouns.h"
#include "model/pod.h"
#include "size/policy_resolution.h"

/* Of a pod that was kept whole, as a tenant's and a capacity pod's is; what it points to is the
 * arena's. */
struct pod pod_of(const struct world_pod *p, struct arena *arena);
struct policy_choice policy_of(const struct world *w, const struct pod *pod);
/* NAME@GENERATION of it; NULL: there is none. */
const char *policy_stamp(const struct world *w, const struct pod *pod, struct arena *arena);

#endif
