/* NVML by dlopen: names of calls, meanings of return codes. */
#include "library.h"

#include <dlfcn.h>
#include <stddef.h>

#include "gpu/probe.h"

#define CALL(member) offsetof(struct nvml_calls, member)

/* The newest name first: the older one of a row differs in semantics that we do not use. Calls that
 * differ in their struct have rows of their own. */
static const struct {
	size_t offset;
	bool needed;
	const char *names[2];
} table[] = {
	{CALL(init), true, {"nvmlInit_v2", "nvmlInit"}},
	{CALL(shutdown), true, {"nvmlShutdown", NULL}},
	{CALL(driver_version), true, {"nvmlSystemGetDriverVersion", NULL}},
	{CALL(cuda_version), false,
		{"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}},
	{CALL(count), true, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}},
	{CALL(handle), true, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}},
	{CALL(uuid), true, {"nvmlDeviceGetUUID", NULL}},
	{CALL(name), true, {"nvmlDeviceGetName", NULL}},
	{CALL(minor), true, {"nvmlDeviceGetMinorNumber", NULL}},
	{CALL(by_uuid), false, {"nvmlDeviceGetHandleByUUID", NULL}},
	{CALL(set_compute_mode), false, {"nvmlDeviceSetComputeMode", NULL}},
	{CALL(get_compute_mode), false, {"nvmlDeviceGetComputeMode", NULL}},
	{CALL(memory_v2), false, {"nvmlDeviceGetMemoryInfo_v2", NULL}},
	{CALL(memory), true, {"nvmlDeviceGetMemoryInfo", NULL}},
	{CALL(mig_mode), false, {"nvmlDeviceGetMigMode", NULL}},
	{CALL(pci), false, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2"}},
	{CALL(rates), false, {"nvmlDeviceGetUtilizationRates", NULL}},
	{CALL(clock), false, {"nvmlDeviceGetClockInfo", NULL}},
	{CALL(temperature), false, {"nvmlDeviceGetTemperature", NULL}},
	{CALL(power), false, {"nvmlDeviceGetPowerUsage", NULL}},
	{CALL(energy), false, {"nvmlDeviceGetTotalEnergyConsumption", NULL}},
	{CALL(pcie_replay), false, {"nvmlDeviceGetPcieReplayCounter", NULL}},
	{CALL(encoder), false, {"nvmlDeviceGetEncoderUtilization", NULL}},
	{CALL(decoder), false, {"nvmlDeviceGetDecoderUtilization", NULL}},
	{CALL(ecc), false, {"nvmlDeviceGetTotalEccErrors", NULL}},
	{CALL(remapped), false, {"nvmlDeviceGetRemappedRows", NULL}},
	{CALL(fields), false, {"nvmlDeviceGetFieldValues", NULL}},
	{CALL(compute), false,
		{"nvmlDeviceGetComputeRunningProcesses_v3",
			"nvmlDeviceGetComputeRunningProcesses_v2"}},
	{CALL(graphics), false,
		{"nvmlDeviceGetGraphicsRunningProcesses_v3",
			"nvmlDeviceGetGraphicsRunningProcesses_v2"}},
	{CALL(mps), false,
		{"nvmlDeviceGetMPSComputeRunningProcesses_v3",
			"nvmlDeviceGetMPSComputeRunningProcesses_v2"}},
	{CALL(compute_v1), false, {"nvmlDeviceGetComputeRunningProcesses", NULL}},
	{CALL(graphics_v1), false, {"nvmlDeviceGetGraphicsRunningProcesses", NULL}},
	{CALL(use), false, {"nvmlDeviceGetProcessUtilization", NULL}},
	{CALL(samples), false, {"nvmlDeviceGetSamples", NULL}},
	{CALL(gpm_support), false, {"nvmlGpmQueryDeviceSupport", NULL}},
	{CALL(gpm_make), false, {"nvmlGpmSampleAlloc", NULL}},
	{CALL(gpm_free), false, {"nvmlGpmSampleFree", NULL}},
	{CALL(gpm_get), false, {"nvmlGpmSampleGet", NULL}},
	{CALL(gpm_metrics), false, {"nvmlGpmMetricsGet", NULL}},
	{CALL(events_make), false, {"nvmlEventSetCreate", NULL}},
	{CALL(events_free), false, {"nvmlEventSetFree", NULL}},
	{CALL(events_register), false, {"nvmlDeviceRegisterEvents", NULL}},
	{CALL(events_wait), false, {"nvmlEventSetWait_v2", "nvmlEventSetWait"}},
};

static const struct {
	int code;
	enum nvml_meaning meaning;
	enum fault_kind kind;
	const char *sentence;
} codes[] = {
	{1, MEANS_DEAF, FAULT_TRANSIENT, "NVML was not initialised"},
	{2, MEANS_LACKING, FAULT_INVALID, "NVML did not accept the arguments"},
	{3, MEANS_LACKING, FAULT_INVALID, "the device does not support it"},
	{4, MEANS_REFUSED, FAULT_DENIED, "no permission to ask the driver"},
	{6, MEANS_TROUBLE, FAULT_NOT_FOUND, "no such thing"},
	{7, MEANS_TROUBLE, FAULT_INVALID, "the answer is larger than NVML's documentation allows"},
	{8, MEANS_LOST, FAULT_FATAL, "a GPU's power cables are not attached"},
	{9, MEANS_DEAF, FAULT_TRANSIENT, "the NVIDIA driver is not loaded"},
	{10, MEANS_TROUBLE, FAULT_TRANSIENT, "the driver did not answer in time"},
	{11, MEANS_TROUBLE, FAULT_FATAL, "the kernel sees an interrupt problem with a GPU"},
	{12, MEANS_DEAF, FAULT_TRANSIENT, "a library that NVML needs was not found"},
	{13, MEANS_LACKING, FAULT_INVALID, "the installed NVML lacks the function"},
	{14, MEANS_TROUBLE, FAULT_FATAL, "the GPU's infoROM is corrupted"},
	{15, MEANS_LOST, FAULT_GONE,
		"the GPU is lost: it fell off the bus or is otherwise out of reach"},
	{16, MEANS_LOST, FAULT_FATAL, "the GPU needs a reset before it can be used"},
	{17, MEANS_REFUSED, FAULT_DENIED, "the operating system blocks access to the GPU"},
	{18, MEANS_DEAF, FAULT_TRANSIENT,
		"library and driver have different versions, as after an upgrade without a reload"},
	{19, MEANS_TROUBLE, FAULT_TRANSIENT, "the GPU is in use"},
	{20, MEANS_TROUBLE, FAULT_TRANSIENT, "the driver is out of memory"},
	{23, MEANS_TROUBLE, FAULT_TRANSIENT, "the driver lacks resources"},
	{25, MEANS_LACKING, FAULT_INVALID,
		"the installed NVML knows another version of the struct"},
	{27, MEANS_TROUBLE, FAULT_TRANSIENT, "the system is not ready"},
	{28, MEANS_TROUBLE, FAULT_NOT_FOUND, "no GPU was found"},
	{29, MEANS_TROUBLE, FAULT_TRANSIENT, "the GPU is in a state that does not allow it"},
	{999, MEANS_TROUBLE, FAULT_TRANSIENT, "the driver reports an unknown error"},
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

enum nvml_meaning nvml_meaning(int code)
{
	for (size_t i = 0; i < COUNT_OF(codes); i++) {
		if (codes[i].code == code) {
			return codes[i].meaning;
		}
	}
	return code == NVML_SUCCESS ? MEANS_DONE : MEANS_TROUBLE;
}

int nvml_devices_count(const struct nvml_calls *calls, unsigned *ret_count, struct fault *ret_fault)
{
	int code = calls->count(ret_count);
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "count the GPUs");
	}
	return *ret_count <= PROBE_DEVICES_MAX
		       ? 0
		       : fault_set(ret_fault, FAULT_LIMIT,
				 "NVML counts %u GPUs; at most %d are expected", *ret_count,
				 PROBE_DEVICES_MAX);
}

static int calls_find(struct nvml_library *l, const char *name, struct fault *ret_fault)
{
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		void *found = dlsym(l->handle, table[i].names[0]);
		if (found == NULL && table[i].names[1] != NULL) {
			found = dlsym(l->handle, table[i].names[1]);
		}
		if (found == NULL && table[i].needed) {
			return fault_set(ret_fault, FAULT_FATAL,
				"%s lacks %s: not an NVML we can use", name, table[i].names[0]);
		}
		/* ISO C has no cast from an object pointer to a function pointer. */
		memcpy((char *)&l->calls + table[i].offset, &found, sizeof found);
	}
	return 0;
}

int nvml_library_open(struct nvml_library *l, const char *name, struct fault *ret_fault)
{
	l->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (l->handle == NULL) {
		const char *why = dlerror();
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"cannot load NVML, which comes with the driver and is put into the "
			"container by the NVIDIA container toolkit: %s",
			why != NULL ? why : name);
	}
	if (calls_find(l, name, ret_fault) != 0) {
		return -1;
	}
	int code = l->calls.init();
	if (code != NVML_SUCCESS) {
		return nvml_fault(ret_fault, code, "initialise NVML");
	}
	l->initialised = true;
	return 0;
}

void nvml_library_finish(struct nvml_library *l)
{
	if (l->initialised) {
		/* Nothing can be done about a failure, and nothing follows. */
		(void)l->calls.shutdown();
	}
	if (l->handle != NULL) {
		(void)dlclose(l->handle);
	}
	*l = (struct nvml_library){0};
}
