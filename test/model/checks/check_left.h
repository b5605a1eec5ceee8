/* Processes whose pod was taken away by force. */
#ifndef SIM_CHECK_LEFT_H
#define SIM_CHECK_LEFT_H
#include "check.h"

void left_note(struct sim *s, const struct stored *o); /* a tenant's object goes */
/* What of it runs on a node now; NULL when there are no more of them. */
const struct left *left_on(struct sim *s, const char *node, size_t *at);
/* Adds what is used so on a GPU; true if there is any. */
bool left_sum(struct sim *s, const char *uuid, int64_t *milli, int64_t *mem_mib);

#endif
