/* The one call of ours that changes a GPU, apart from the probe, which only asks. */
#include "gpu/compute_mode.h"

#include <stddef.h>

#include "gpu/nvml.h"
#include "library.h"

int gpu_compute_mode_set(
	const char *library, const char *uuid, enum gpu_compute_mode mode, struct fault *ret_fault)
{
	CLEANUP(nvml_library_finish) struct nvml_library l = {.handle = NULL};
	void *device = NULL;
	if (nvml_library_open(&l, library, ret_fault) != 0) {
		return -1;
	}
	if (l.calls.by_uuid == NULL || l.calls.set_compute_mode == NULL) {
		return nvml_fault(ret_fault, NVML_FUNCTION_NOT_FOUND, "set the compute mode");
	}
	int code = l.calls.by_uuid(uuid, &device);
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "open the GPU");
	}
	code = l.calls.set_compute_mode(device, (int)mode);
	return code == NVML_SUCCESS ? 0 : nvml_fault(ret_fault, code, "set the compute mode");
}
