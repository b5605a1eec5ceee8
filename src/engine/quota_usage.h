/* What of each ResourceQuota is taken, in the picture of one step (C7). The world has the sums of
 * what pods show; the picture adds what nobody shows yet. Nothing here fails or lasts. */
#ifndef ENGINE_QUOTA_USAGE_H
#define ENGINE_QUOTA_USAGE_H

#include <stdint.h>

struct engine;
struct waiter;
struct world_pod;

/* A quota as a waiter meets it: without what it is counted with itself. */
struct quota_view {
	const char *name; /* borrowed from the world; NULL: no quota covers it */
	int64_t hard, used, left;
};

void quotas_begin(struct engine *e);
void quotas_hold(struct engine *e, const char *ns, int64_t milli);
void quotas_count_waiters(struct engine *e);
/* What is left for the waiter, INT64_MAX without a quota, and of which. */
int64_t quotas_left(const struct engine *e, const struct waiter *w, struct quota_view *ret_view);
void quotas_take(struct engine *e, struct waiter *w, int64_t milli);
/* The same of a tenant, which is counted with `own_milli`. */
int64_t quotas_left_pod(const struct engine *e, const struct world_pod *p, int64_t own_milli,
	struct quota_view *ret_view);
void quotas_take_pod(struct engine *e, const struct world_pod *p, int64_t milli);

#endif
