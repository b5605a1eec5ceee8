/* NVML by dlopen. Only what identifies a GPU is asked for, and nothing here knows why. */
#include "gpu/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The part of NVML's interface that we use, as its documentation has it. */
typedef int (*nvml_plain_fn)(void);
typedef int (*nvml_text_fn)(char *buffer, unsigned size);
typedef int (*nvml_count_fn)(unsigned *count);
typedef int (*nvml_handle_fn)(unsigned index, void **device);
typedef int (*nvml_device_text_fn)(void *device, char *buffer, unsigned size);
typedef int (*nvml_device_number_fn)(void *device, unsigned *number);
typedef int (*nvml_memory_fn)(void *device, void *memory);
typedef int (*nvml_mig_fn)(void *device, unsigned *current, unsigned *pending);

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version; /* of the struct: its size and, from bit 24, its number */
	unsigned long long total, reserved, free, used;
};
#define NVML_MEMORY_V2 ((unsigned)sizeof(struct nvml_memory_v2) | 2u << 24)

enum {
	NVML_SUCCESS = 0,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_ARGUMENT_VERSION_MISMATCH = 25,
};

struct nvml {
	struct gpu_probe probe;
	void *library; /* owned, of dlopen */
	nvml_plain_fn init, shutdown;
	nvml_text_fn driver_version;
	nvml_count_fn count;
	nvml_handle_fn handle;
	nvml_device_text_fn uuid, name;
	nvml_device_number_fn minor;
	nvml_memory_fn memory_v2, memory;
	nvml_mig_fn mig_mode;
	void *devices[PROBE_DEVICES_MAX]; /* NVML's handles */
	uint32_t device_count;
	bool initialised;
};

/* The newest name first: the older one of a pair differs in semantics that we do not use. The
 * memory calls differ in their struct and are kept apart. */
static const struct {
	size_t offset;
	bool needed;
	const char *names[2];
} calls[] = {
	{offsetof(struct nvml, init), true, {"nvmlInit_v2", "nvmlInit"}},
	{offsetof(struct nvml, shutdown), true, {"nvmlShutdown", NULL}},
	{offsetof(struct nvml, driver_version), true, {"nvmlSystemGetDriverVersion", NULL}},
	{offsetof(struct nvml, count), true, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}},
	{offsetof(struct nvml, handle), true,
		{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}},
	{offsetof(struct nvml, uuid), true, {"nvmlDeviceGetUUID", NULL}},
	{offsetof(struct nvml, name), true, {"nvmlDeviceGetName", NULL}},
	{offsetof(struct nvml, minor), true, {"nvmlDeviceGetMinorNumber", NULL}},
	{offsetof(struct nvml, memory_v2), false, {"nvmlDeviceGetMemoryInfo_v2", NULL}},
	{offsetof(struct nvml, memory), true, {"nvmlDeviceGetMemoryInfo", NULL}},
	{offsetof(struct nvml, mig_mode), false, {"nvmlDeviceGetMigMode", NULL}},
};

static const struct {
	int code;
	enum fault_kind kind;
	const char *sentence;
} codes[] = {
	{1, FAULT_FATAL, "NVML was not initialised"},
	{2, FAULT_INVALID, "NVML did not accept the arguments"},
	{3, FAULT_INVALID, "the device does not support it"},
	{4, FAULT_DENIED, "no permission to ask the driver"},
	{6, FAULT_NOT_FOUND, "no such thing"},
	{7, FAULT_INVALID, "the answer is larger than NVML's documentation allows"},
	{8, FAULT_FATAL, "a GPU's power cables are not attached"},
	{9, FAULT_TRANSIENT, "the NVIDIA driver is not loaded"},
	{10, FAULT_TRANSIENT, "the driver did not answer in time"},
	{11, FAULT_FATAL, "the kernel sees an interrupt problem with a GPU"},
	{12, FAULT_TRANSIENT, "a library that NVML needs was not found"},
	{13, FAULT_INVALID, "the installed NVML lacks the function"},
	{14, FAULT_FATAL, "the GPU's infoROM is corrupted"},
	{15, FAULT_GONE, "the GPU is lost: it fell off the bus or is otherwise out of reach"},
	{16, FAULT_FATAL, "the GPU needs a reset before it can be used"},
	{17, FAULT_DENIED, "the operating system blocks access to the GPU"},
	{18, FAULT_TRANSIENT,
		"library and driver have different versions, as after an upgrade without a reload"},
	{19, FAULT_TRANSIENT, "the GPU is in use"},
	{20, FAULT_TRANSIENT, "the driver is out of memory"},
	{23, FAULT_TRANSIENT, "the driver lacks resources"},
	{25, FAULT_INVALID, "the installed NVML knows another version of the struct"},
	{27, FAULT_TRANSIENT, "the system is not ready"},
	{28, FAULT_NOT_FOUND, "no GPU was found"},
	{29, FAULT_TRANSIENT, "the GPU is in a state that does not allow it"},
	{999, FAULT_TRANSIENT, "the driver reports an unknown error"},
};

int nvml_fault(struct fault *ret_fault, int code, const char *call)
{
	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		if (codes[i].code == code) {
			return fault_set(ret_fault, codes[i].kind, "%s: %s (NVML error %d)", call,
				codes[i].sentence, code);
		}
	}
	return fault_set(
		ret_fault, FAULT_TRANSIENT, "%s: NVML error %d, which we do not know", call, code);
}

static int nvml_count(struct gpu_probe *p, uint32_t *ret_count, struct fault *ret_fault)
{
	struct nvml *n = CONTAINER_OF(p, struct nvml, probe);
	unsigned all = 0;
	int code = n->count(&all);
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "count the GPUs");
	}
	if (all > PROBE_DEVICES_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT,
			"NVML counts %u GPUs; at most %d are expected", all, PROBE_DEVICES_MAX);
	}
	uint32_t seen = 0;
	for (unsigned i = 0; i < all; i++) {
		code = n->handle(i, &n->devices[seen]);
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

/* Usable bytes: the total less what the driver keeps for itself, which only the second version
 * tells. */
static int usable_bytes(struct nvml *n, void *device, uint64_t *ret_bytes, struct fault *ret_fault)
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
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "read the memory size");
	}
	*ret_bytes = v1.total;
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

static int driver_text(struct nvml *n, struct gpu_identity *identity, struct fault *ret_fault)
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

static int mig_mode(struct nvml *n, void *device, bool *ret_mig, struct fault *ret_fault)
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
	struct nvml *n, void *device, struct gpu_identity *id, struct fault *ret_fault)
{
	uint64_t bytes = 0;
	unsigned minor = 0;
	if (usable_bytes(n, device, &bytes, ret_fault) != 0) {
		return -1;
	}
	if (bytes >> 20 == 0) {
		return fault_set(ret_fault, FAULT_INVALID, "%s has no memory of its own", id->uuid);
	}
	int code = n->minor(device, &minor);
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "read the minor number");
	}
	id->mem_mib = (int64_t)(bytes >> 20);
	id->minor = (int32_t)(minor & INT32_MAX);
	return 0;
}

static int nvml_describe(
	struct gpu_probe *p, uint32_t index, struct gpu_device *ret_device, struct fault *ret_fault)
{
	struct nvml *n = CONTAINER_OF(p, struct nvml, probe);
	if (index >= n->device_count) {
		return fault_set(ret_fault, FAULT_NOT_FOUND, "no GPU has the index %u", index);
	}
	void *device = n->devices[index];
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

static void nvml_destroy(struct gpu_probe *p)
{
	struct nvml *n = CONTAINER_OF(p, struct nvml, probe);
	if (n->initialised) {
		/* Nothing can be done about a failure, and nothing follows. */
		(void)n->shutdown();
	}
	if (n->library != NULL) {
		(void)dlclose(n->library);
	}
	free(n);
}

static const struct gpu_probe_impl nvml_impl = {nvml_count, nvml_describe, nvml_destroy};

static int nvml_load(struct nvml *n, const char *library, struct fault *ret_fault)
{
	n->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (n->library == NULL) {
		const char *why = dlerror();
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"cannot load NVML, which comes with the driver and is put into the "
			"container by the "
			"NVIDIA container toolkit: %s",
			why != NULL ? why : library);
	}
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		void *found = dlsym(n->library, calls[i].names[0]);
		if (found == NULL && calls[i].names[1] != NULL) {
			found = dlsym(n->library, calls[i].names[1]);
		}
		if (found == NULL && calls[i].needed) {
			return fault_set(ret_fault, FAULT_FATAL,
				"%s lacks %s: not an NVML we can use", library, calls[i].names[0]);
		}
		/* ISO C has no cast from an object pointer to a function pointer. */
		memcpy((char *)n + calls[i].offset, &found, sizeof found);
	}
	return 0;
}

int nvml_probe_open(const char *library, struct gpu_probe **ret_probe, struct fault *ret_fault)
{
	struct nvml *n = xcalloc(1, sizeof *n);
	n->probe.impl = &nvml_impl;
	CLEANUP(cleanup_gpu_probe) struct gpu_probe *probe = &n->probe;
	if (nvml_load(n, library, ret_fault) != 0) {
		return -1;
	}
	int code = n->init();
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "initialise NVML");
	}
	n->initialised = true;
	*ret_probe = TAKE(probe);
	return 0;
}
