/* What a device says of itself, asked through a handle. */
#ifndef GPU_DEVICE_H
#define GPU_DEVICE_H

#include "gpu/probe.h"
#include "library.h"

MUST_CHECK int device_describe(const struct nvml_calls *calls, void *handle,
	struct gpu_device *ret_device, struct fault *ret_fault);

#endif
