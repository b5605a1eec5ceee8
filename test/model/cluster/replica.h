/* One controller process: the shipped control, without the webhook, its certificates and the
 * errands that src/app adds to it. Checkpoints are not written, so that a new leader learns anew.
 */
#ifndef SIM_REPLICA_H
#define SIM_REPLICA_H
#include "control/control.h"
#include "objects/sim_parts.h"

struct replica *replica_create(struct sim *s, int index);
void replica_destroy(struct replica *r);
void replica_wake(struct replica *r, int64_t at);
void replica_doom(struct replica *r); /* it will be gone by the end of its turn */
bool replica_doomed(const struct replica *r);
void replica_leave(struct replica *r);			      /* SIGTERM */
void replica_tell(struct replica *r, const struct change *c); /* its control */
/* Its clock is so far off from now on, whatever it was before. */
void replica_jump(struct replica *r, int64_t off_ms);

/* Its views are those by which it answers for the webhook. */
const struct control *replica_control(const struct replica *r);

#endif
