/*
 * The part of NVIDIA's management library that the fake offers, with the real names, layouts and
 * return codes, so that a program which opens libnvidia-ml.so.1 cannot tell the difference.
 *
 * Handles are opaque and stay valid for the life of the process, as those of the real library do.
 * Every call answers from the topology file as it is at that moment.
 *
 * FAKE_DRIVER is how new the driver is. 3: all of it. 2: process lists end with _v2. 1: only the
 * first version of every call, and none of what came with Ampere or later.
 */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#ifndef FAKE_DRIVER
#define FAKE_DRIVER 3
#endif

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

#define NVML_MEMORY_V2	       0x2000028u
#define NVML_GPM_VERSION       1u
#define NVML_EVENT_XID	       8ull
#define NVML_FIELD_MEMORY_TEMP 82u
#define NVML_VALUE_UNSIGNED    1
#define NVML_NO_INSTANCE       0xFFFFFFFFu
/* What the sizing call of process utilisation says, whether so many rows come or none. */
#define NVML_SIZING_ROWS 100u

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct nvml_pci_info_v2 {
	char bus_id_legacy[16];
	unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
};

struct nvml_pci_info {
	struct nvml_pci_info_v2 old;
	char bus_id[32];
};

struct nvml_utilization {
	unsigned gpu, memory;
};

struct nvml_process_v1 {
	unsigned pid;
	unsigned long long used_memory;
};

struct nvml_process {
	unsigned pid;
	unsigned long long used_memory;
	unsigned gpu_instance, compute_instance;
};

struct nvml_sample {
	unsigned pid;
	unsigned long long time_stamp;
	unsigned sm, memory, encoder, decoder;
};

struct nvml_own_sample {
	unsigned long long time_stamp;
	union {
		double real;
		unsigned whole;
		unsigned long long large;
	} value;
};

struct nvml_field {
	unsigned id, scope;
	long long time_stamp, latency_us;
	int value_type, code;
	unsigned long long value;
};

struct nvml_gpm_support {
	unsigned version, supported;
};

struct nvml_gpm_metric {
	unsigned id;
	int code;
	double value;
	const char *short_name, *long_name, *unit;
};

struct nvml_gpm_metrics {
	unsigned version, count;
	void *sample1, *sample2;
	struct nvml_gpm_metric metrics[98];
};

struct nvml_event_v1 {
	const void *device;
	unsigned long long type, data;
};

struct nvml_event {
	struct nvml_event_v1 old;
	unsigned gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");
_Static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
_Static_assert(sizeof(struct nvml_pci_info) == 68, "nvmlPciInfo_t");
_Static_assert(sizeof(struct nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");
_Static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_t");
_Static_assert(sizeof(struct nvml_sample) == 32, "nvmlProcessUtilizationSample_t");
_Static_assert(sizeof(struct nvml_own_sample) == 16, "nvmlSample_t");
_Static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");
_Static_assert(sizeof(struct nvml_event) == 32, "nvmlEventData_t");

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
NVML_API int nvmlDeviceSetComputeMode(const void *handle, int mode);
NVML_API int nvmlDeviceGetComputeMode(const void *handle, int *mode);
NVML_API int nvmlDeviceGetMigMode(const void *handle, unsigned *current, unsigned *pending);
NVML_API int nvmlDeviceGetPciInfo_v2(const void *handle, struct nvml_pci_info_v2 *pci);

NVML_API int nvmlDeviceGetUtilizationRates(const void *handle, struct nvml_utilization *use);
NVML_API int nvmlDeviceGetClockInfo(const void *handle, int clock, unsigned *mhz);
NVML_API int nvmlDeviceGetTemperature(const void *handle, int sensor, unsigned *celsius);
NVML_API int nvmlDeviceGetPowerUsage(const void *handle, unsigned *milliwatt);
NVML_API int nvmlDeviceGetTotalEnergyConsumption(const void *handle, unsigned long long *mj);
NVML_API int nvmlDeviceGetPcieReplayCounter(const void *handle, unsigned *count);
NVML_API int nvmlDeviceGetEncoderUtilization(const void *handle, unsigned *use, unsigned *period);
NVML_API int nvmlDeviceGetDecoderUtilization(const void *handle, unsigned *use, unsigned *period);
NVML_API int nvmlDeviceGetTotalEccErrors(
	const void *handle, int error, int counter, unsigned long long *count);
NVML_API int nvmlDeviceGetFieldValues(const void *handle, int count, struct nvml_field *values);

NVML_API int nvmlDeviceGetComputeRunningProcesses(
	const void *handle, unsigned *count, struct nvml_process_v1 *processes);
NVML_API int nvmlDeviceGetGraphicsRunningProcesses(
	const void *handle, unsigned *count, struct nvml_process_v1 *processes);
NVML_API int nvmlDeviceGetProcessUtilization(const void *handle, struct nvml_sample *samples,
	unsigned *count, unsigned long long last_seen);

NVML_API int nvmlDeviceGetSamples(const void *handle, int which, unsigned long long last_seen,
	int *value_kind, unsigned *count, struct nvml_own_sample *samples);

NVML_API int nvmlEventSetCreate(void **set);
NVML_API int nvmlEventSetFree(void *set);
NVML_API int nvmlDeviceRegisterEvents(const void *handle, unsigned long long types, void *set);
NVML_API int nvmlEventSetWait(void *set, struct nvml_event_v1 *event, unsigned timeout_ms);

#if FAKE_DRIVER >= 2
NVML_API int nvmlDeviceGetComputeRunningProcesses_v2(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlDeviceGetGraphicsRunningProcesses_v2(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlDeviceGetMPSComputeRunningProcesses_v2(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlDeviceGetRemappedRows(const void *handle, unsigned *correctable,
	unsigned *uncorrectable, unsigned *pending, unsigned *failed);
NVML_API int nvmlEventSetWait_v2(void *set, struct nvml_event *event, unsigned timeout_ms);
#endif

#if FAKE_DRIVER >= 3
NVML_API int nvmlDeviceGetMemoryInfo_v2(const void *handle, struct nvml_memory_v2 *memory);
NVML_API int nvmlDeviceGetPciInfo_v3(const void *handle, struct nvml_pci_info *pci);
NVML_API int nvmlDeviceGetComputeRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlDeviceGetGraphicsRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlDeviceGetMPSComputeRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes);
NVML_API int nvmlGpmQueryDeviceSupport(const void *handle, struct nvml_gpm_support *support);
NVML_API int nvmlGpmSampleAlloc(void **sample);
NVML_API int nvmlGpmSampleFree(void *sample);
NVML_API int nvmlGpmSampleGet(const void *handle, void *sample);
NVML_API int nvmlGpmMetricsGet(struct nvml_gpm_metrics *metrics);
#endif

#endif
