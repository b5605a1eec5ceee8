/* Namespaces, with what limits GPUs in them. */
#ifndef WORLD_NAMESPACES_H
#define WORLD_NAMESPACES_H

#include "base/alloc.h"
#include "base/table.h"
#include "model/policy.h"

struct world;

struct world_quota;

struct world_namespace {
	struct table_row row;
	struct arena arena;
	struct namespace noun;
	uint32_t gpu_limits;		     /* LimitRanges here that limit nvidia.com/gpu */
	VEC_OF(struct world_quota *) quotas; /* those here that bound GPUs */
	bool known;
};

const struct world_namespace *world_namespace_find(const struct world *w, const char *name);

#endif
