/* What of each ResourceQuota is taken, in the picture of one step (C7). The world has the sums of
 * what pods show; the picture adds what nobody shows yet. Nothing here fails or lasts. */
#ifndef DEMAND_QUOTA_USAGE_H
#define DEMAND_QUOTA_USAGE_H

#include "base/vec.h"
#include "ledger/nouns.h"

/* What a quota leaves for one waiter, whose own charge is not in `used_milli`. */
struct quota_view {
	const char *name; /* borrowed from the world; NULL: no quota covers it */
	int64_t hard_milli, used_milli, left_milli;
};

struct quotas {
	struct picture *picture; /* borrowed */
	VEC_OF(int64_t) used;	 /* beside the world's quotas: thousandths of a GPU */
};

void quotas_begin(struct quotas *quotas);
void quotas_hold(struct quotas *quotas, const char *ns, int64_t milli);
void quotas_count_waiters(struct quotas *quotas);
/* What is left for the waiter, INT64_MAX without a quota, and of which. */
int64_t quotas_left(
	const struct quotas *quotas, const struct waiter *w, struct quota_view *ret_view);
void quotas_take(struct quotas *quotas, struct waiter *w, int64_t milli);
/* The same of a tenant, which is counted with `own_milli`. */
int64_t quotas_left_pod(const struct quotas *quotas, const struct world_pod *p, int64_t own_milli,
	struct quota_view *ret_view);
void quotas_take_pod(struct quotas *quotas, const struct world_pod *p, int64_t milli);

#endif
