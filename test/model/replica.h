/* One controller process: the shipped parts, wired and stepped as app/controller.c does it, without
 * the webhook, its certificates and the errands. */
#ifndef SIM_REPLICA_H
#define SIM_REPLICA_H

#include "sim_parts.h"

struct replica *replica_create(struct sim *s, int index);
void replica_destroy(struct replica *r);
void replica_wake(struct replica *r, int64_t at);
void replica_doom(struct replica *r); /* it will be gone by the end of its turn */
bool replica_doomed(const struct replica *r);
void replica_leave(struct replica *r);			      /* SIGTERM */
void replica_tell(struct replica *r, const struct change *c); /* its engine */
void replica_jump(struct replica *r, int64_t wall_ms);

/* The views of that controller, by which it answers for the webhook. */
const struct world *replica_world(const struct replica *r);
const struct rightsizer *replica_sizing(const struct replica *r);

#endif
