/*
 * The part of NVIDIA's management library that the fake offers, with the real names, layouts and
 * return codes, so that a program which opens libnvidia-ml.so.1 cannot tell the difference.
 *
 * Handles are opaque and stay valid for the life of the process, as those of the real library do.
 * Every call answers from the topology file as it is at that moment.
 */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#define NVML_API __attribute__((visibility("default")))

enum nvml_return {
	NVML_SUCCESS = 0,
	NVML_ERROR_UNINITIALIZED = 1,
	NVML_ERROR_INVALID_ARGUMENT = 2,
	NVML_ERROR_NOT_SUPPORTED = 3,
	NVML_ERROR_NO_PERMISSION = 4,
	NVML_ERROR_NOT_FOUND = 6,
	NVML_ERROR_INSUFFICIENT_SIZE = 7,
	NVML_ERROR_DRIVER_NOT_LOADED = 9,
	NVML_ERROR_TIMEOUT = 10,
	NVML_ERROR_GPU_IS_LOST = 15,
	NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
	NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
	NVML_ERROR_UNKNOWN = 999,
};

#define NVML_MEMORY_V2 0x2000028u

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct nvml_pci_info {
	char bus_id_legacy[16];
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
	char bus_id[32];
};

struct nvml_utilization {
	unsigned gpu, memory;
};

struct nvml_process {
	unsigned pid;
	unsigned long long used_memory;
	unsigned gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_pci_info) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_t");

NVML_API int nvmlInit_v2(void);
NVML_API int nvmlInitWithFlags(unsigned flags);
NVML_API int nvmlShutdown(void);
NVML_API const char *nvmlErrorString(int code);
NVML_API int nvmlSystemGetDriverVersion(char *version, unsigned length);
NVML_API int nvmlSystemGetCudaDriverVersion_v2(int *version);
NVML_API int nvmlDeviceGetCount_v2(unsigned *count);
NVML_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, const void **handle);
NVML_API int nvmlDeviceGetHandleByUUID(const char *uuid, const void **handle);
NVML_API int nvmlDeviceGetUUID(const void *handle, char *uuid, unsigned length);
NVML_API int nvmlDeviceGetName(const void *handle, char *name, unsigned length);
NVML_API int nvmlDeviceGetIndex(const void *handle, unsigned *index);
NVML_API int nvmlDeviceGetMinorNumber(const void *handle, unsigned *minor);
NVML_API int nvmlDeviceGetMemoryInfo(const void *handle, struct nvml_memory *memory);
NVML_API int nvmlDeviceGetMemoryInfo_v2(const void *handle, struct nvml_memory_v2 *memory);
NVML_API int nvmlDeviceSetComputeMode(const void *handle, int mode);
NVML_API int nvmlDeviceGetMigMode(const void *handle, unsigned *current, unsigned *pending);
NVML_API int nvmlDeviceGetPciInfo_v3(const void *handle, struct nvml_pci_info *pci);
NVML_API int nvmlDeviceGetUtilizationRates(const void *handle, struct nvml_utilization *use);
NVML_API int nvmlDeviceGetComputeRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlDeviceGetMPSComputeRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlDeviceGetGraphicsRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes);

#endif
