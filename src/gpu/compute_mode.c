/* The one call of ours that changes a GPU, apart from the probe, which only asks. */
#include "gpu/compute_mode.h"

#include <stddef.h>

#include "gpu/nvml.h"
#include "library.h"

const char *gpu_compute_mode_name(enum gpu_compute_mode mode)
{
	static const char *const names[] = {[COMPUTE_MODE_DEFAULT] = "Default",
		[COMPUTE_MODE_EXCLUSIVE_THREAD] = "Exclusive_Thread",
		[COMPUTE_MODE_PROHIBITED] = "Prohibited",
		[COMPUTE_MODE_EXCLUSIVE_PROCESS] = "Exclusive_Process"};
	return (unsigned)mode < COUNT_OF(names) ? names[mode] : "Unknown";
}

/* The library is the caller's to finish, also after a fault. */
static int device_open(struct nvml_library *l, const char *library, const char *uuid,
	void **ret_device, struct fault *ret_fault)
{
	if (nvml_library_open(l, library, ret_fault) != 0) {
		return -1;
	}
	if (l->calls.by_uuid == NULL) {
		return nvml_fault(ret_fault, NVML_FUNCTION_NOT_FOUND, "open the GPU");
	}
	int code = l->calls.by_uuid(uuid, ret_device);
	return code == NVML_SUCCESS ? 0 : nvml_fault(ret_fault, code, "open the GPU");
}

int gpu_compute_mode_set(
	const char *library, const char *uuid, enum gpu_compute_mode mode, struct fault *ret_fault)
{
	CLEANUP(nvml_library_finish) struct nvml_library l = {.handle = NULL};
	void *device = NULL;
	if (device_open(&l, library, uuid, &device, ret_fault) != 0) {
		return -1;
	}
	int code = l.calls.set_compute_mode != NULL ? l.calls.set_compute_mode(device, (int)mode)
						    : NVML_FUNCTION_NOT_FOUND;
	return code == NVML_SUCCESS ? 0 : nvml_fault(ret_fault, code, "set the compute mode");
}

int gpu_compute_mode_get(const char *library, const char *uuid, enum gpu_compute_mode *ret_mode,
	struct fault *ret_fault)
{
	CLEANUP(nvml_library_finish) struct nvml_library l = {.handle = NULL};
	void *device = NULL;
	int mode = COMPUTE_MODE_DEFAULT;
	if (device_open(&l, library, uuid, &device, ret_fault) != 0) {
		return -1;
	}
	int code = l.calls.get_compute_mode != NULL ? l.calls.get_compute_mode(device, &mode)
						    : NVML_FUNCTION_NOT_FOUND;
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "ask for the compute mode");
	}
	*ret_mode = (enum gpu_compute_mode)mode;
	return 0;
}
