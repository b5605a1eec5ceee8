/* What has become of a pod, and what the product has written on it: the ledger, the identity of a
 * GPU, the proof of how containers get it. */
#ifndef SIM_FACTS_STATUS_H
#define SIM_FACTS_STATUS_H
#include "facts.h"

/* What the status of a pod says, and the texts of the product that it may have. */
void facts_status(const json_t *status, struct arena *arena, struct pod *pod);
void facts_texts(struct arena *arena, struct pod *pod);

#endif
