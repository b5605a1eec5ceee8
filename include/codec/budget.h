/* PodDisruptionBudgets of policy/v1: JSON to struct budget. Text lives in the arena; FAULT_INVALID
 * names the path. */
#ifndef CODEC_BUDGET_H
#define CODEC_BUDGET_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/budget.h"

const struct slice_keep *budget_projection(void);
MUST_CHECK int budget_decode(const char *json, size_t n, struct arena *arena,
	struct budget *ret_budget, struct fault *ret_fault);

#endif
