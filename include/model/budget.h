/* A PodDisruptionBudget of policy/v1, as far as an eviction would be asked by it. */
#ifndef MODEL_BUDGET_H
#define MODEL_BUDGET_H

#include <stdint.h>

#include "model/labels.h"

struct budget {
	const char *ns, *name, *uid;
	struct selector selector; /* absent: it matches no pod; empty: every one of its namespace */
	int32_t allowed; /* status.disruptionsAllowed; 0 while the spec is newer than the status */
};

#endif
