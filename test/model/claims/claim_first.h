/* Claims about who comes first, about several GPUs at once, about GPUs that are ill, and about what
 * nodes lack. */
#ifndef SIM_CLAIM_FIRST_H
#define SIM_CLAIM_FIRST_H
#include "claim.h"

const char *claim_keeps_first(struct claim *c);
const char *claim_short_of_gpus(struct claim *c);
const char *claim_is_ill(struct claim *c);
const char *claim_miscounts_room(struct claim *c);
/* "node-1 has room on 2" */
bool claim_room_on(const char *message, char *node, size_t room, int64_t *ret_count);

#endif
