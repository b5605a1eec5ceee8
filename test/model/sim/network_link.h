/* A controller's wire to the modelled API server. */
#ifndef SIM_NETWORK_LINK_H
#define SIM_NETWORK_LINK_H
#include "objects/sim_parts.h"

void link_init(struct link *l, struct sim *sim, int replica);
void link_finish(struct link *l);
void link_break_streams(struct link *l);
void link_changed(struct link *l, enum resource resource); /* watches have something to tell */
struct flight *flight_find(struct link *l, uint64_t id);
void flight_end(struct link *l, uint64_t id, const struct wire_answer *answer);
void parcel_free(struct parcel *p);

#endif
