/* Replacing pods for their share, judged by the objects: nobody's last Ready pod goes for a saving,
 * one at a time, no pod that stands beside another is forgotten, and no mark of ours stays. */
#ifndef SIM_CHECK_ROLL_H
#define SIM_CHECK_ROLL_H
#include "objects/sim_parts.h"

void roll_intended(struct sim *s, int replica, const struct action *a);
void roll_committed(struct sim *s, const struct commit *c);
bool roll_excuses(const struct sim *s, const struct stored *o); /* its eviction */
/* A controller writes or deletes a pod that is no tenant, or none yet: is that its business? */
bool roll_may_write(struct sim *s, const struct commit *c);
bool roll_may_delete(struct sim *s, const struct stored *o);
void roll_look(struct sim *s); /* once a second */
bool roll_settled(struct sim *s, struct str *why);

#endif
