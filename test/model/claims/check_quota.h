/* C7: what tenants were given and whole GPUs together stay within each ResourceQuota, as far as the
 * controller that gives could know: a whole-GPU pod is admitted without a look at shares, and a
 * quota that was made or changed just now was not heard yet. */
#ifndef SIM_CHECK_QUOTA_H
#define SIM_CHECK_QUOTA_H
#include "objects/sim_parts.h"

void check_quotas(struct sim *s, const struct commit *c);
void quota_intended(struct sim *s, int replica, const struct action *a); /* a ledger is sent */
int64_t quota_shown(const struct pod *p); /* of what a tenant was told, on all of its GPUs */
/* What of it is taken now, whole GPUs of pods that were made by that version among it. */
int64_t quota_used(const struct sim *s, const struct quota *q, int64_t born_by);
/* May this pod be given so much now? */
bool quota_allows(const struct sim *s, const struct stored *o, int64_t milli);

#endif
