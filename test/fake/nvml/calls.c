#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nvml.h"
#include "topology.h"

#define TOPOLOGY_CLEANUP __attribute__((cleanup(topology_free)))

/* The real library counts its users as well; an interface without a context leaves no other place.
 */
static atomic_int users;

/* A handle is the address of a device's place here; the bytes themselves mean nothing. */
static const char places[GPU_MAX];

static void sleep_ms(int ms)
{
	struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	while (nanosleep(&wait, &wait) < 0)
		continue;
}

/* Does what the rules say about a call; a rule of one device beats none, and the last one wins. */
static int rules_apply(const struct topology *t, const char *call, int gpu)
{
	int rc = NVML_SUCCESS;

	for (int i = 0; i < t->rules; i++) {
		const struct rule *rule = &t->rule[i];
		if (strcmp(rule->call, call) != 0 || (rule->gpu >= 0 && rule->gpu != gpu))
			continue;
		if (rule->act == RULE_CRASH)
			abort();
		if (rule->act == RULE_DELAY_MS)
			sleep_ms(rule->value);
		else
			rc = rule->value;
	}
	return rc;
}

static int system_open(const char *call, struct topology **ret_topology)
{
	if (atomic_load(&users) == 0)
		return NVML_ERROR_UNINITIALIZED;
	struct topology *t = NULL;
	if (topology_load(&t) < 0)
		return NVML_ERROR_UNKNOWN;
	int rc = rules_apply(t, call, -1);
	if (rc != NVML_SUCCESS) {
		topology_free(&t);
		return rc;
	}
	*ret_topology = t;
	return NVML_SUCCESS;
}

static int device_open(
	const char *call, const void *handle, struct topology **ret_topology, int *ret_gpu)
{
	if (atomic_load(&users) == 0)
		return NVML_ERROR_UNINITIALIZED;
	const char *place = handle;
	if (place < places || place >= places + GPU_MAX)
		return NVML_ERROR_INVALID_ARGUMENT;
	struct topology *t = NULL;
	if (topology_load(&t) < 0)
		return NVML_ERROR_UNKNOWN;
	int gpu = (int)(place - places);
	int rc = NVML_ERROR_GPU_IS_LOST;
	if (gpu < t->gpus && t->gpu[gpu].visible)
		rc = rules_apply(t, call, gpu);
	if (rc != NVML_SUCCESS) {
		topology_free(&t);
		return rc;
	}
	*ret_topology = t;
	*ret_gpu = gpu;
	return NVML_SUCCESS;
}

static int text_give(char *to, unsigned length, const char *text)
{
	if (to == NULL)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (strlen(text) + 1 > length)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	memcpy(to, text, strlen(text) + 1);
	return NVML_SUCCESS;
}

static int init(const char *call)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;

	if (topology_load(&t) < 0)
		return NVML_ERROR_DRIVER_NOT_LOADED;
	int rc = rules_apply(t, call, -1);
	if (rc == NVML_SUCCESS)
		atomic_fetch_add(&users, 1);
	return rc;
}

int nvmlInit_v2(void)
{
	return init("nvmlInit_v2");
}

int nvmlInitWithFlags(unsigned flags)
{
	(void)flags;
	return init("nvmlInitWithFlags");
}

int nvmlShutdown(void)
{
	if (atomic_load(&users) == 0)
		return NVML_ERROR_UNINITIALIZED;
	atomic_fetch_sub(&users, 1);
	return NVML_SUCCESS;
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
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int rc = system_open("nvmlSystemGetDriverVersion", &t);

	return rc != NVML_SUCCESS ? rc : text_give(version, length, t->driver);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int rc = system_open("nvmlSystemGetCudaDriverVersion_v2", &t);

	if (rc == NVML_SUCCESS)
		*version = t->cuda;
	return rc;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int rc = system_open("nvmlDeviceGetCount_v2", &t);

	if (rc != NVML_SUCCESS)
		return rc;
	*count = 0;
	for (int i = 0; i < t->gpus; i++)
		*count += t->gpu[i].visible;
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, const void **handle)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int rc = system_open("nvmlDeviceGetHandleByIndex_v2", &t);

	for (int i = 0; rc == NVML_SUCCESS && i < t->gpus; i++) {
		if (!t->gpu[i].visible || index-- > 0)
			continue;
		*handle = &places[i];
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
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int rc = system_open("nvmlDeviceGetHandleByUUID", &t);

	for (int i = 0; rc == NVML_SUCCESS && i < t->gpus; i++) {
		if (!t->gpu[i].visible || strcmp(uuid, gpu_uuid(&t->gpu[i])) != 0)
			continue;
		*handle = &places[i];
		return NVML_SUCCESS;
	}
	return rc != NVML_SUCCESS ? rc : NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetUUID(const void *handle, char *uuid, unsigned length)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetUUID", handle, &t, &gpu);

	return rc != NVML_SUCCESS ? rc : text_give(uuid, length, gpu_uuid(&t->gpu[gpu]));
}

int nvmlDeviceGetName(const void *handle, char *name, unsigned length)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetName", handle, &t, &gpu);

	return rc != NVML_SUCCESS ? rc : text_give(name, length, t->gpu[gpu].name);
}

int nvmlDeviceGetIndex(const void *handle, unsigned *index)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetIndex", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	*index = 0;
	for (int i = 0; i < gpu; i++)
		*index += t->gpu[i].visible;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMinorNumber(const void *handle, unsigned *minor)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetMinorNumber", handle, &t, &gpu);

	if (rc == NVML_SUCCESS)
		*minor = t->gpu[gpu].minor;
	return rc;
}

/* The first version counts what the driver reserves as used; the second one names it. */
int nvmlDeviceGetMemoryInfo(const void *handle, struct nvml_memory *memory)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetMemoryInfo", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	const struct gpu *g = &t->gpu[gpu];
	memory->total = g->total;
	memory->used = g->used + g->reserved;
	memory->free = g->total - memory->used;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(const void *handle, struct nvml_memory_v2 *memory)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetMemoryInfo_v2", handle, &t, &gpu);

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

int nvmlDeviceGetMigMode(const void *handle, unsigned *current, unsigned *pending)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetMigMode", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	if (!t->gpu[gpu].mig_known)
		return NVML_ERROR_NOT_SUPPORTED;
	*current = t->gpu[gpu].mig_current;
	*pending = t->gpu[gpu].mig_pending;
	return NVML_SUCCESS;
}

int nvmlDeviceGetPciInfo_v3(const void *handle, struct nvml_pci_info *pci)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetPciInfo_v3", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	const char *id = t->gpu[gpu].bus_id;
	*pci = (struct nvml_pci_info){.pci_device_id = 0x233010de};
	if (sscanf(id, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) != 3)
		return NVML_ERROR_UNKNOWN;
	memcpy(pci->bus_id, id, sizeof(pci->bus_id));
	/* The old form has four digits of domain in place of eight. */
	snprintf(pci->bus_id_legacy, sizeof(pci->bus_id_legacy), "%.12s", id + 4);
	return NVML_SUCCESS;
}

int nvmlDeviceGetUtilizationRates(const void *handle, struct nvml_utilization *use)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetUtilizationRates", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	use->gpu = t->gpu[gpu].busy_gpu;
	use->memory = t->gpu[gpu].busy_memory;
	return NVML_SUCCESS;
}

/* *count says how many fit; it comes back as how many there are, even where they do not fit. */
static int processes_list(const struct topology *t, int gpu, enum process_kind kind,
	unsigned *count, struct nvml_process *to)
{
	unsigned room = *count;

	*count = 0;
	for (int i = 0; i < t->processes; i++) {
		const struct process_row *row = &t->process[i];
		if (row->gpu != gpu || row->kind != kind)
			continue;
		if (*count < room && to != NULL)
			to[*count] = (struct nvml_process){.pid = row->pid,
				.used_memory = row->bytes,
				.gpu_instance = 0xFFFFFFFFu,
				.compute_instance = 0xFFFFFFFFu};
		++*count;
	}
	return *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetComputeRunningProcesses_v3", handle, &t, &gpu);

	return rc != NVML_SUCCESS ? rc : processes_list(t, gpu, PROCESS_COMPUTE, count, processes);
}

int nvmlDeviceGetMPSComputeRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetMPSComputeRunningProcesses_v3", handle, &t, &gpu);

	return rc != NVML_SUCCESS ? rc : processes_list(t, gpu, PROCESS_MPS, count, processes);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(
	const void *handle, unsigned *count, struct nvml_process *processes)
{
	TOPOLOGY_CLEANUP struct topology *t = NULL;
	int gpu;
	int rc = device_open("nvmlDeviceGetGraphicsRunningProcesses_v3", handle, &t, &gpu);

	return rc != NVML_SUCCESS ? rc : processes_list(t, gpu, PROCESS_GRAPHICS, count, processes);
}
