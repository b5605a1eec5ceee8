/* What verbs of the API server have in common: an answer that is a Status, and a deletion. */
#ifndef SIM_API_OBJECT_H
#define SIM_API_OBJECT_H
#include "sim_parts.h"

void api_status(struct api_answer *a, int code, const char *reason, const char *message);
/* What a DELETE comes to, after its preconditions. */
void apiserver_delete_pod(struct sim *s, struct stored *o, int64_t grace_s, int actor);

#endif
