/* Every GPUPolicy. */
#ifndef WORLD_OBJECTS_H
#define WORLD_OBJECTS_H

#include "base/alloc.h"
#include "base/table.h"
#include "model/policy.h"

struct world;

struct world_policy {
	struct table_row row;
	struct arena arena;
	struct policy noun;
};

/* Every policy, in no particular order. */
const struct policy *const *world_policies(const struct world *w, uint32_t *ret_count);
const struct policy *world_policy_find(const struct world *w, const char *name);

#endif
