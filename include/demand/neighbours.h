/* What pods with GPUs require of each other. Nothing here fails. */
#ifndef DEMAND_NEIGHBOURS_H
#define DEMAND_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/nouns.h"

void neighbours_gather(struct wholes *wholes, const struct ranked *ranked);
/* One more pod is on that node of the snapshot, or will be; `leaves`: it is being deleted. */
void neighbours_arrive(struct needs *needs, uint32_t node, const struct pod *pod, bool leaves);
/* Marks the nodes that the pod must keep off; what place_request.apart must be. Of a pod for whole
 * GPUs only anti-affinity on the host name is looked at. */
uint32_t neighbours_mark(struct needs *needs, const struct pod *pod);

#endif
