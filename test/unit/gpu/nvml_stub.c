/* See nvml_stub.h. Built twice; OLD_DRIVER leaves out what drivers of some years ago lack. */
#include "nvml_stub.h"

#include <stdio.h>
#include <string.h>

struct nvml_stub nvml_stub = NVML_STUB_DEFAULT;

struct memory {
	unsigned long long total, free, used;
};
struct memory_v2 {
	unsigned version;
	unsigned long long total, reserved, free, used;
};

int nvmlInit(void);
int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *buffer, unsigned size);
int nvmlDeviceGetCount(unsigned *count);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetUUID(void *device, char *buffer, unsigned size);
int nvmlDeviceGetName(void *device, char *buffer, unsigned size);
int nvmlDeviceGetMinorNumber(void *device, unsigned *minor);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory);
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceSetComputeMode(void *device, int mode);
int nvmlDeviceGetComputeMode(void *device, int *mode);

static char devices[STUB_DEVICES];

int nvmlInit(void)
{
	nvml_stub.inits++;
	return nvml_stub.init_code;
}

int nvmlShutdown(void)
{
	nvml_stub.shutdowns++;
	return 0;
}

int nvmlSystemGetDriverVersion(char *buffer, unsigned size)
{
	(void)snprintf(buffer, size, "570.86.15");
	return nvml_stub.driver_code;
}

int nvmlDeviceGetCount(unsigned *count)
{
	*count = nvml_stub.count;
	return nvml_stub.count_code;
}

int nvmlDeviceGetHandleByIndex(unsigned index, void **device)
{
	*device = &devices[index];
	return nvml_stub.handle_codes[index];
}

int nvmlDeviceGetUUID(void *device, char *buffer, unsigned size)
{
	unsigned index = (unsigned)((char *)device - devices);
	(void)snprintf(buffer, size, "%s", nvml_stub.uuid);
	char *mark = strchr(buffer, '#');
	if (mark != NULL) {
		*mark = (char)('0' + index % 10);
	}
	return nvml_stub.uuid_code;
}

int nvmlDeviceGetName(void *device, char *buffer, unsigned size)
{
	(void)device;
	(void)snprintf(buffer, size, "NVIDIA H100 80GB HBM3");
	return nvml_stub.name_code;
}

int nvmlDeviceGetMinorNumber(void *device, unsigned *minor)
{
	*minor = (unsigned)((char *)device - devices) + 3;
	return nvml_stub.minor_code;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
	(void)device;
	*memory = (struct memory){nvml_stub.total, nvml_stub.total, 0};
	return nvml_stub.memory_code;
}

#ifndef OLD_DRIVER
/* The first device, by its name as a '#' has it. */
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	*device = &devices[0];
	return strcmp(uuid, nvml_stub.uuid) == 0 ? 0 : 6;
}

int nvmlDeviceSetComputeMode(void *device, int mode)
{
	if (nvml_stub.compute_mode_code == 0) {
		nvml_stub.compute_mode = mode;
	}
	return device == &devices[0] ? nvml_stub.compute_mode_code : 2;
}

int nvmlDeviceGetComputeMode(void *device, int *mode)
{
	*mode = nvml_stub.compute_mode;
	return device == &devices[0] ? nvml_stub.compute_mode_get_code : 2;
}

int nvmlInit_v2(void)
{
	return nvmlInit();
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	return nvmlDeviceGetCount(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
	return nvmlDeviceGetHandleByIndex(index, device);
}

int nvmlDeviceGetMemoryInfo_v2(void *device, struct memory_v2 *memory)
{
	(void)device;
	nvml_stub.memory_version = memory->version;
	if (nvml_stub.memory_v2_code == 0) {
		*memory = (struct memory_v2){memory->version, nvml_stub.total, nvml_stub.reserved,
			nvml_stub.total - nvml_stub.reserved, 0};
	}
	return nvml_stub.memory_v2_code;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
	(void)device;
	*current = nvml_stub.mig_current;
	*pending = nvml_stub.mig_pending;
	return nvml_stub.mig_code;
}
#endif
