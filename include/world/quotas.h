/* ResourceQuotas that bound GPUs. */
#ifndef WORLD_QUOTAS_H
#define WORLD_QUOTAS_H

#include "base/alloc.h"
#include "base/table.h"
#include "model/quota.h"

struct world;

struct pod;
struct world_pod;

/* C7. A ResourceQuota that bounds GPUs, and what of it the pods take that it covers and that have
 * not ended. */
struct world_quota {
	struct table_row row;
	struct arena arena;
	struct quota noun;
	int64_t whole_gpus;    /* of pods that ask for whole ones */
	int64_t granted_milli; /* of tenants that show their share */
};

/* Quotas that bound GPUs, in no particular order; those of a namespace stand there. */
size_t world_quota_count(const struct world *w);
const struct world_quota *world_quota_at(const struct world *w, size_t i);
/* A GPU pod of the quota's namespace. */
bool world_quota_covers(const struct world_quota *q, const struct world_pod *p);
/* The name of one that covers the pod, which need not be known here, and allows no GPU; or NULL. */
const char *world_zero_quota(const struct world *w, const struct pod *pod);

#endif
