/* "3 GPUs lack memory, 2 lack compute": counted again from the objects as the controller had been
 * told of them. */
#ifndef SIM_CLAIM_LACK_H
#define SIM_CLAIM_LACK_H
#include "claim.h"

/* Where a capacity pod is, or must go; NULL: nowhere that was known. */
const struct stored *claim_node_of(const struct claim *c, const struct pod *holder);
const char *claim_miscounts_gpus(struct claim *c);
/* How many GPUs are told to be so; 0: none. */
int64_t claim_gpus(const char *message, const char *one, const char *many);
/* The rest of the sentence behind what is told of GPUs. */
const char *claim_past_gpus(const char *message);

#endif
