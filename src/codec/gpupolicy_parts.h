/* The parts of a GPUPolicy that size shares and change pods. */
#ifndef CODEC_GPUPOLICY_PARTS_H
#define CODEC_GPUPOLICY_PARTS_H

#include "model/policy.h"
#include "parts.h"

/* Over the defaults that are there. FAULT_INVALID names the path from the object's root. */
MUST_CHECK int policy_read_sizing(
	const json_t *root, struct arena *arena, struct sizing *s, struct fault *ret_fault);
MUST_CHECK int policy_read_rollout(
	const json_t *root, struct arena *arena, struct rollout *r, struct fault *ret_fault);

struct policy_range {
	const char *path;
	int64_t value, min, max;
};
MUST_CHECK int policy_check_ranges(
	const struct policy_range *ranges, size_t count, struct fault *ret_fault);

#endif
