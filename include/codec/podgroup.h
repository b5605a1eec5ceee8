/* PodGroups of scheduling.k8s.io/v1alpha2: JSON to struct pod_group. One that is not understood in
 * all its parts is not Basic, and no fault. Text lives in the arena; FAULT_INVALID names the path.
 */
#ifndef CODEC_PODGROUP_H
#define CODEC_PODGROUP_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/podgroup.h"

const struct slice_keep *pod_group_projection(void);
MUST_CHECK int pod_group_decode(const char *json, size_t n, struct arena *arena,
	struct pod_group *ret_group, struct fault *ret_fault);

#endif
