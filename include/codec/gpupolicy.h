/* GPUPolicies: JSON to struct policy, defaults as the CRD's. Text lives in the arena.
 *
 * The schema of the CRD guards the door; what comes through all the same and cannot mean anything
 * is FAULT_INVALID with its path. */
#ifndef CODEC_GPUPOLICY_H
#define CODEC_GPUPOLICY_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/policy.h"

const struct slice_keep *policy_projection(void);
MUST_CHECK int policy_decode(const char *json, size_t n, struct arena *arena,
	struct policy *ret_policy, struct fault *ret_fault);

#endif
