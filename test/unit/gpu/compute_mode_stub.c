/* As much of NVML as setting the compute mode asks for. */
#include "compute_mode_stub.h"

#include <string.h>

struct compute_mode_stub compute_mode_stub;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceSetComputeMode(void *device, int mode);

int nvmlInit_v2(void)
{
	compute_mode_stub.begun += compute_mode_stub.init_code == 0;
	return compute_mode_stub.init_code;
}

int nvmlShutdown(void)
{
	compute_mode_stub.begun--;
	return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
	*device = &compute_mode_stub;
	return strcmp(uuid, "GPU-a") == 0 ? 0 : 6;
}

int nvmlDeviceSetComputeMode(void *device, int mode)
{
	if (device != &compute_mode_stub) {
		return 2;
	}
	compute_mode_stub.mode = mode;
	return compute_mode_stub.set_code;
}
