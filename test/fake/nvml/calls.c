#include <stdio.h>
#include <string.h>

#include "answer.h"

static int text_give(char *to, unsigned length, const char *text)
{
	if (to == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (strlen(text) + 1 > length)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, text, strlen(text) + 1);
	return NVML_SUCCESS;
}

int nvmlInit_v2(void)
{
	return answer_init("nvmlInit_v2");
}

int nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return answer_init("nvmlInitWithFlags");
}

int nvmlShutdown(void)
{
	return answer_shutdown();
}

const char *nvmlErrorString(int code)
{
	switch (code) {
	case NVML_SUCCESS:
		return "The operation was successful";
	case NVML_ERROR_UNINITIALIZED:
		return "Uninitialized";
	case NVML_ERROR_INVALID_ARGUMENT:
		return "Invalid Argument";
	case NVML_ERROR_NOT_SUPPORTED:
		return "Not Supported";
	case NVML_ERROR_NO_PERMISSION:
		return "Insufficient Permissions";
	case NVML_ERROR_NOT_FOUND:
		return "Not Found";
	case NVML_ERROR_INSUFFICIENT_SIZE:
		return "Insufficient Size";
	case NVML_ERROR_DRIVER_NOT_LOADED:
		return "Driver Not Loaded";
	case NVML_ERROR_TIMEOUT:
		return "Timeout";
	case NVML_ERROR_GPU_IS_LOST:
		return "GPU is lost";
	case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
		return "Driver/library version mismatch";
	case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
		return "Argument version mismatch";
	default:
		return "Unknown Error";
	}
}

int nvmlSystemGetDriverVersion(char *version, unsigned length)
{
	struct topology *t;
	int rc = answer_system("nvmlSystemGetDriverVersion", &t);

	return rc != NVML_SUCCESS ? rc : text_give(version, length, t->driver);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	struct topology *t;
	int rc = answer_system("nvmlSystemGetCudaDriverVersion_v2", &t);

	if (rc == NVML_SUCCESS)
		*version = t->cuda;
	return rc;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	struct topology *t;
	int rc = answer_system("nvmlDeviceGetCount_v2", &t);

	if (rc != NVML_SUCCESS)
		return rc;
	*count = 0;
	for (int i = 0; i < t->gpus; i++)
		*count += t->gpu[i].visible;
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, const void **handle)
{
	struct topology *t;
	int rc = answer_system("nvmlDeviceGetHandleByIndex_v2", &t);

	for (int i = 0; rc == NVML_SUCCESS && i < t->gpus; i++) {
		if (!t->gpu[i].visible || index-- > 0)
			continue;
		*handle = answer_handle(i);
		return NVML_SUCCESS;
	}
	return rc != NVML_SUCCESS ? rc : NVML_ERROR_INVALID_ARGUMENT;
}

static const char *gpu_uuid(const struct gpu *gpu)
{
	return gpu->report_uuid[0] != '\0' ? gpu->report_uuid : gpu->uuid;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, const void **handle)
{
	struct topology *t;
	int rc = answer_system("nvmlDeviceGetHandleByUUID", &t);

	for (int i = 0; rc == NVML_SUCCESS && i < t->gpus; i++) {
		if (!t->gpu[i].visible || strcmp(uuid, gpu_uuid(&t->gpu[i])) != 0)
			continue;
		*handle = answer_handle(i);
		return NVML_SUCCESS;
	}
	return rc != NVML_SUCCESS ? rc : NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetUUID(const void *handle, char *uuid, unsigned length)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetUUID", handle, &t, &gpu);

	return rc != NVML_SUCCESS ? rc : text_give(uuid, length, gpu_uuid(&t->gpu[gpu]));
}

int nvmlDeviceGetName(const void *handle, char *name, unsigned length)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetName", handle, &t, &gpu);

	return rc != NVML_SUCCESS ? rc : text_give(name, length, t->gpu[gpu].name);
}

int nvmlDeviceGetIndex(const void *handle, unsigned *index)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetIndex", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	*index = 0;
	for (int i = 0; i < gpu; i++)
		*index += t->gpu[i].visible;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMinorNumber(const void *handle, unsigned *minor)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetMinorNumber", handle, &t, &gpu);

	if (rc == NVML_SUCCESS)
		*minor = t->gpu[gpu].minor;
	return rc;
}

/* The first version counts what the driver reserves as used; the second one names it. */
int nvmlDeviceGetMemoryInfo(const void *handle, struct nvml_memory *memory)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetMemoryInfo", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	const struct gpu *g = &t->gpu[gpu];
	memory->total = g->total;
	memory->used = g->used + g->reserved;
	memory->free = g->total - memory->used;
	return NVML_SUCCESS;
}

#if FAKE_DRIVER >= 3
int nvmlDeviceGetMemoryInfo_v2(const void *handle, struct nvml_memory_v2 *memory)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetMemoryInfo_v2", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	if (memory->version != NVML_MEMORY_V2)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	const struct gpu *g = &t->gpu[gpu];
	memory->total = g->total;
	memory->reserved = g->reserved;
	memory->used = g->used;
	memory->free = g->total - g->reserved - g->used;
	return NVML_SUCCESS;
}
#endif

int nvmlDeviceGetMigMode(const void *handle, unsigned *current, unsigned *pending)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetMigMode", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	if (!t->gpu[gpu].mig_known)
		return NVML_ERROR_NOT_SUPPORTED;
	*current = t->gpu[gpu].mig_current;
	*pending = t->gpu[gpu].mig_pending;
	return NVML_SUCCESS;
}

static int pci_info(
	const char *call, const void *handle, struct nvml_pci_info_v2 *pci, char *ret_bus_id)
{
	struct topology *t;
	int gpu;
	int rc = answer_device(call, handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	const char *id = t->gpu[gpu].bus_id;
	*pci = (struct nvml_pci_info_v2){.pci_device_id = 0x233010de};
	if (sscanf(id, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) != 3)
		return NVML_ERROR_UNKNOWN;
	/* The old form has four digits of domain in place of eight. */
	snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy), "%.12s", id + 4);
	if (ret_bus_id != NULL)
		memcpy(ret_bus_id, id, sizeof(t->gpu[gpu].bus_id));
	return NVML_SUCCESS;
}

int nvmlDeviceGetPciInfo_v2(const void *handle, struct nvml_pci_info_v2 *pci)
{
	return pci_info("nvmlDeviceGetPciInfo_v2", handle, pci, NULL);
}

#if FAKE_DRIVER >= 3
int nvmlDeviceGetPciInfo_v3(const void *handle, struct nvml_pci_info *pci)
{
	return pci_info("nvmlDeviceGetPciInfo_v3", handle, &pci->old, pci->bus_id);
}
#endif
