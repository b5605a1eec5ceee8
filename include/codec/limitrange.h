/* LimitRanges: JSON to struct limit_range. Text lives in the arena; FAULT_INVALID names the path.
 */
#ifndef CODEC_LIMITRANGE_H
#define CODEC_LIMITRANGE_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/policy.h"

const struct slice_keep *limit_range_projection(void);
MUST_CHECK int limit_range_decode(const char *json, size_t n, struct arena *arena,
	struct limit_range *ret_range, struct fault *ret_fault);

#endif
