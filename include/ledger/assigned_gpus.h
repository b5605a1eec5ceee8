/* What a tenant was told, GPU by GPU. Nothing here fails or allocates. */
#ifndef LEDGER_ASSIGNED_GPUS_H
#define LEDGER_ASSIGNED_GPUS_H

#include <stdbool.h>

#include "base/str.h"
#include "model/gpu.h"

struct told {
	struct view uuids, names; /* those that are left; borrowed */
	/* the one that is looked at; "" where it is not known */
	char uuid[GPU_UUID_MAX];
	char capacity_pod[64];
};

/* Lists, as model/gpu.h says; each may be NULL. */
struct told told_of(const char *uuids, const char *capacity_pods);
bool told_next(struct told *t);

#endif
