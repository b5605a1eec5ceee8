/* GPUWorkloadGroups: JSON to struct workload_group, defaults as the CRD's. Text lives in the arena.
 * Whether its expressions compile is not asked here. */
#ifndef CODEC_GROUP_H
#define CODEC_GROUP_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/group.h"

const struct slice_keep *group_projection(void);
MUST_CHECK int group_decode(const char *json, size_t n, struct arena *arena,
	struct workload_group *ret_group, struct fault *ret_fault);

#endif
