/* See device.h. */
#include "device.h"

/* Usable bytes: the total less what the driver keeps for itself, which only the second version
 * tells. 0: it has none of its own, but that of the machine (GB10), and says so by telling none. */
static int usable_bytes(
	const struct nvml_calls *n, void *device, uint64_t *ret_bytes, struct fault *ret_fault)
{
	struct nvml_memory_v2 v2 = {.version = NVML_MEMORY_V2};
	int code = n->memory_v2 != NULL ? n->memory_v2(device, &v2) : NVML_FUNCTION_NOT_FOUND;
	if (code == NVML_SUCCESS && v2.reserved <= v2.total) {
		*ret_bytes = v2.total - v2.reserved;
		return 0;
	}
	if (code == NVML_SUCCESS) {
		return fault_set(ret_fault, FAULT_INVALID,
			"the driver reserves %llu of %llu bytes of memory", v2.reserved, v2.total);
	}
	if (code != NVML_FUNCTION_NOT_FOUND && code != NVML_ARGUMENT_VERSION_MISMATCH &&
		code != NVML_NOT_SUPPORTED && code != NVML_INVALID_ARGUMENT) {
		return nvml_fault(ret_fault, code, "read the memory size");
	}
	struct nvml_memory v1 = {0};
	code = n->memory(device, &v1);
	if (code != NVML_SUCCESS && code != NVML_NOT_SUPPORTED) {
		return nvml_fault(ret_fault, code, "read the memory size");
	}
	*ret_bytes = code == NVML_SUCCESS ? v1.total : 0;
	return 0;
}

static int device_text(nvml_device_text_fn ask, void *device, char *ret_text, const char *what,
	struct fault *ret_fault)
{
	char text[GPU_UUID_MAX] = "";
	int code = ask(device, text, sizeof text);
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, what);
	}
	text[sizeof text - 1] = '\0';
	memcpy(ret_text, text, sizeof text);
	return 0;
}
_Static_assert(GPU_UUID_MAX == GPU_MODEL_MAX, "device_text fills both");

static int driver_text(
	const struct nvml_calls *n, struct gpu_identity *identity, struct fault *ret_fault)
{
	char text[96] = "";
	int code = n->driver_version(text, sizeof text);
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "read the driver's version");
	}
	(void)snprintf(identity->driver, sizeof identity->driver, "%.*s",
		(int)sizeof identity->driver - 1, text);
	return 0;
}

/* What NVML says must be fit for an environment variable and a label of a metric. */
static bool uuid_is_plausible(const char *uuid)
{
	return strncmp(uuid, "GPU-", 4) == 0 && uuid[4] != '\0' &&
	       strspn(uuid, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") ==
		       strlen(uuid);
}

static int mig_mode(
	const struct nvml_calls *n, void *device, bool *ret_mig, struct fault *ret_fault)
{
	unsigned current = 0, pending = 0;
	int code =
		n->mig_mode != NULL ? n->mig_mode(device, &current, &pending) : NVML_NOT_SUPPORTED;
	if (code != NVML_SUCCESS && code != NVML_NOT_SUPPORTED && code != NVML_FUNCTION_NOT_FOUND) {
		return nvml_fault(ret_fault, code, "read the MIG mode");
	}
	*ret_mig = code == NVML_SUCCESS && (current != 0 || pending != 0);
	return 0;
}

static int device_size(
	const struct nvml_calls *n, void *device, struct gpu_identity *id, struct fault *ret_fault)
{
	uint64_t bytes = 0;
	unsigned minor = 0;
	if (usable_bytes(n, device, &bytes, ret_fault) != 0) {
		return -1;
	}
	int code = n->minor(device, &minor);
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "read the minor number");
	}
	id->mem_mib = (int64_t)(bytes >> 20);
	id->minor = (int32_t)(minor & INT32_MAX);
	return 0;
}

int device_describe(const struct nvml_calls *n, void *device, struct gpu_device *ret_device,
	struct fault *ret_fault)
{
	struct gpu_device found = {0};
	struct gpu_identity *id = &found.identity;
	if (device_text(n->uuid, device, id->uuid, "read the UUID", ret_fault) != 0 ||
		device_text(n->name, device, id->model, "read the model", ret_fault) != 0 ||
		driver_text(n, id, ret_fault) != 0 ||
		mig_mode(n, device, &found.mig, ret_fault) != 0) {
		return -1;
	}
	if (!uuid_is_plausible(id->uuid)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "'%s' is not the UUID of a GPU", id->uuid);
	}
	/* The size of a GPU that is cut into instances means nothing and may not even be told. */
	if (!found.mig && device_size(n, device, id, ret_fault) != 0) {
		return -1;
	}
	*ret_device = found;
	return 0;
}
