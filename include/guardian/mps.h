/* What agents tell of the daemons of MPS, as decisions use it: a GPU whose daemon is not active
 * gets no new tenants, and no GPU gets more processes than MPS takes. What was never told holds
 * nobody off: a capacity pod is ready only while its daemon answers. A fault, which that does not
 * show, lasts until the agent says that it is over, whatever silence comes between.
 *
 * Nothing here fails or allocates. */
#ifndef GUARDIAN_MPS_H
#define GUARDIAN_MPS_H

#include "ledger/nouns.h"

/* It is told not to be active. */
bool mps_is_ill(const struct picture *picture, const struct holder *h);
/* In the snapshot, after everybody was counted. */
void mps_settle(struct picture *picture);
/* A fault on the node of this world's index ends only if its agent goes on telling. */
bool mps_wants_state(const struct world *world, uint32_t node);
/* What holds the waiter off the GPU of its closest miss, for people. */
const char *mps_explain(const struct picture *picture, const struct waiter *w);
void mps_report(const struct picture *picture, struct emitter *out);

#endif
