/* NVML behind the port. Only what identifies a GPU is asked for, and nothing here knows why. */
#include "gpu/nvml.h"

#include "base/alloc.h"
#include "device.h"
#include "library.h"

struct nvml {
	struct gpu_probe probe;
	struct nvml_library library;
	void *devices[PROBE_DEVICES_MAX]; /* NVML's handles */
	uint32_t device_count;
};

static int nvml_count(struct gpu_probe *p, uint32_t *ret_count, struct fault *ret_fault)
{
	struct nvml *n = CONTAINER_OF(p, struct nvml, probe);
	unsigned all = 0;
	if (nvml_devices_count(&n->library.calls, &all, ret_fault) != 0) {
		return -1;
	}
	uint32_t seen = 0;
	for (unsigned i = 0; i < all; i++) {
		int code = n->library.calls.handle(i, &n->devices[seen]);
		if (code == NVML_SUCCESS) {
			seen++;
		} else if (code != NVML_NO_PERMISSION) {
			/* The count includes devices that this container may not open; only those
			 * are passed over. */
			return nvml_fault(ret_fault, code, "open a GPU");
		}
	}
	if (seen == 0 && all > 0) {
		return nvml_fault(ret_fault, NVML_NO_PERMISSION, "open any GPU");
	}
	n->device_count = seen;
	*ret_count = seen;
	return 0;
}

static int nvml_describe(
	struct gpu_probe *p, uint32_t index, struct gpu_device *ret_device, struct fault *ret_fault)
{
	struct nvml *n = CONTAINER_OF(p, struct nvml, probe);
	if (index >= n->device_count) {
		return fault_set(ret_fault, FAULT_NOT_FOUND, "no GPU has the index %u", index);
	}
	struct gpu_device found;
	if (device_describe(&n->library.calls, n->devices[index], &found, ret_fault) != 0) {
		return -1;
	}
	/* Shares of memory that is the machine's would be nobody's to give. */
	if (!found.mig && found.identity.mem_mib == 0) {
		return fault_set(ret_fault, FAULT_INVALID,
			"%s has no memory of its own (unified memory): it is not shared",
			found.identity.uuid);
	}
	*ret_device = found;
	return 0;
}

static void nvml_destroy(struct gpu_probe *p)
{
	struct nvml *n = CONTAINER_OF(p, struct nvml, probe);
	nvml_library_finish(&n->library);
	free(n);
}

static const struct gpu_probe_impl nvml_impl = {nvml_count, nvml_describe, nvml_destroy};

int nvml_probe_open(const char *library, struct gpu_probe **ret_probe, struct fault *ret_fault)
{
	struct nvml *n = xcalloc(1, sizeof *n);
	n->probe.impl = &nvml_impl;
	CLEANUP(cleanup_gpu_probe) struct gpu_probe *probe = &n->probe;
	if (nvml_library_open(&n->library, library, ret_fault) != 0) {
		return -1;
	}
	*ret_probe = TAKE(probe);
	return 0;
}
