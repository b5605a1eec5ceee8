/* ResourceSlices of NVIDIA's DRA driver: which nodes publish GPUs that way. Of any other driver's a
 * slice without a node. Text lives in the arena; FAULT_INVALID names the path. */
#ifndef CODEC_GPUSLICE_H
#define CODEC_GPUSLICE_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/node.h"

#define GPU_SLICE_SELECTOR "spec.driver=gpu.nvidia.com"

const struct slice_keep *gpu_slice_projection(void);
MUST_CHECK int gpu_slice_decode(const char *json, size_t n, struct arena *arena,
	struct gpu_slice *ret_slice, struct fault *ret_fault);

#endif
