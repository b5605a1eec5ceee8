/* The server's half of a watch, and the way of its bytes to the client: in order, late, cut
 * anywhere. */
#ifndef SIM_WATCH_STREAM_H
#define SIM_WATCH_STREAM_H
#include "objects/sim_parts.h"

bool watch_open(struct flight *f, const struct api_request *r, struct api_answer *ret_answer);
void watch_pump_soon(struct flight *f);

#endif
