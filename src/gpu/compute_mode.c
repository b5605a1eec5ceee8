/* The one call of ours that changes a GPU, apart from the probe, which only asks. */
#include "gpu/compute_mode.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "gpu/nvml.h"

struct setter {
	void *library; /* owned, of dlopen */
	int (*init)(void);
	int (*shutdown)(void);
	int (*handle)(const char *uuid, void **device);
	int (*set)(void *device, int mode);
	int begun; /* init succeeded */
};

static const struct {
	const char *name;
	size_t offset;
} calls[] = {
	{"nvmlInit_v2", offsetof(struct setter, init)},
	{"nvmlShutdown", offsetof(struct setter, shutdown)},
	{"nvmlDeviceGetHandleByUUID", offsetof(struct setter, handle)},
	{"nvmlDeviceSetComputeMode", offsetof(struct setter, set)},
};

static void setter_finish(struct setter *s)
{
	if (s->begun) {
		(void)s->shutdown();
	}
	if (s->library != NULL) {
		(void)dlclose(s->library);
	}
}

static int setter_open(struct setter *s, const char *library, struct fault *ret_fault)
{
	s->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (s->library == NULL) {
		const char *why = dlerror();
		return fault_set(ret_fault, FAULT_TRANSIENT, "load %s: %s", library,
			why != NULL ? why : "?");
	}
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		void *symbol = dlsym(s->library, calls[i].name);
		if (symbol == NULL) {
			return fault_set(
				ret_fault, FAULT_INVALID, "%s lacks %s", library, calls[i].name);
		}
		memcpy((char *)s + calls[i].offset, &symbol, sizeof symbol);
	}
	int code = s->init();
	s->begun = code == 0;
	return code == 0 ? 0 : nvml_fault(ret_fault, code, "initialise NVML");
}

int gpu_compute_mode_set(
	const char *library, const char *uuid, enum gpu_compute_mode mode, struct fault *ret_fault)
{
	CLEANUP(setter_finish) struct setter s = {.library = NULL};
	void *device = NULL;
	if (setter_open(&s, library, ret_fault) != 0) {
		return -1;
	}
	int code = s.handle(uuid, &device);
	if (code != 0) {
		return nvml_fault(ret_fault, code, "open the GPU");
	}
	code = s.set(device, (int)mode);
	return code == 0 ? 0 : nvml_fault(ret_fault, code, "set the compute mode");
}
