/* ResourceQuotas: JSON to struct quota. Text lives in the arena; FAULT_INVALID names the path. What
 * the API server counts (status) is left out: it changes with every pod, and is not what we count.
 */
#ifndef CODEC_RESOURCEQUOTA_H
#define CODEC_RESOURCEQUOTA_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/quota.h"

const struct slice_keep *quota_projection(void);
MUST_CHECK int quota_decode(const char *json, size_t n, struct arena *arena,
	struct quota *ret_quota, struct fault *ret_fault);

#endif
