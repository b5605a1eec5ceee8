/* The modelled API server's verbs: GET, POST, PATCH and DELETE of one object, and LIST. */
#ifndef SIM_APISERVER_H
#define SIM_APISERVER_H
#include "objects/sim_parts.h"

void apiserver_handle(
	struct sim *s, int actor, const struct api_request *r, struct api_answer *ret_answer);

#endif
