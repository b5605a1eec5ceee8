/* The lists of processes and their utilisation. */
#include <time.h>

#include "answer.h"

/* A real driver samples every 1/6 to 1 s; often enough for tests that look twice a second. */
#define SAMPLE_PERIOD_US 100000ull

static struct nvml_process row_now(const struct process_row *row)
{
	return (struct nvml_process){.pid = row->pid,
		.used_memory = row->bytes,
		.gpu_instance = NVML_NO_INSTANCE,
		.compute_instance = NVML_NO_INSTANCE};
}

static struct nvml_process_v1 row_old(const struct process_row *row)
{
	return (struct nvml_process_v1){.pid = row->pid, .used_memory = row->bytes};
}

/* One struct or the other: a caller that mixes them up gets its memory overwritten, as it would. */
struct rows {
	struct nvml_process *now;
	struct nvml_process_v1 *old;
};

/* *count says how many fit; it comes back as how many there are, even where they do not fit. */
static int processes_list(const char *call, const void *handle, enum process_kind kind,
	unsigned *count, struct rows to)
{
	struct topology *t;
	int gpu;
	int rc = answer_device(call, handle, &t, &gpu);
	unsigned room = *count, found = 0;

	if (rc != NVML_SUCCESS)
		return rc;
	for (int i = 0; i < t->processes; i++) {
		const struct process_row *row = &t->process[i];
		if (row->gpu != gpu || row->kind != kind)
			continue;
		if (found < room && to.now != NULL)
			to.now[found] = row_now(row);
		else if (found < room && to.old != NULL)
			to.old[found] = row_old(row);
		found++;
	}
	/* A process that begins between the two calls. */
	if (room > 0 && answer_growth(t, call, gpu) > 0)
		found = room + 1;
	*count = found;
	return found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

#define LIST(name, kind, member, type)                                                             \
	int name(const void *handle, unsigned *count, type *processes)                             \
	{                                                                                          \
		return processes_list(                                                             \
			#name, handle, kind, count, (struct rows){.member = processes});           \
	}

LIST(nvmlDeviceGetComputeRunningProcesses, PROCESS_COMPUTE, old, struct nvml_process_v1)
LIST(nvmlDeviceGetGraphicsRunningProcesses, PROCESS_GRAPHICS, old, struct nvml_process_v1)
#if FAKE_DRIVER >= 2
LIST(nvmlDeviceGetComputeRunningProcesses_v2, PROCESS_COMPUTE, now, struct nvml_process)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, PROCESS_GRAPHICS, now, struct nvml_process)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, PROCESS_MPS, now, struct nvml_process)
#endif
#if FAKE_DRIVER >= 3
LIST(nvmlDeviceGetComputeRunningProcesses_v3, PROCESS_COMPUTE, now, struct nvml_process)
LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, PROCESS_GRAPHICS, now, struct nvml_process)
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, PROCESS_MPS, now, struct nvml_process)
#endif

static unsigned long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

static void sample_give(
	struct nvml_sample *to, unsigned room, unsigned *found, const struct nvml_sample *sample)
{
	if (*found < room)
		to[*found] = *sample;
	++*found;
}

static unsigned samples_list(const struct topology *t, int gpu, struct nvml_sample *to,
	unsigned room, unsigned long long after)
{
	unsigned long long latest = now_us() / SAMPLE_PERIOD_US * SAMPLE_PERIOD_US;
	unsigned found = 0;

	for (unsigned i = 0; i < t->gpu[gpu].garbage; i++)
		sample_give(to, room, &found,
			&(struct nvml_sample){.sm = 2147483632u, .memory = 3452816845u});
	for (int i = 0; i < t->uses; i++) {
		const struct use_row *row = &t->use[i];
		unsigned long long at = row->at_us != 0 ? row->at_us : latest;
		/* Who did nothing is not in the list. */
		bool ran =
			row->sm != 0 || row->memory != 0 || row->encoder != 0 || row->decoder != 0;
		if (row->gpu != gpu || at <= after || !ran)
			continue;
		sample_give(to, room, &found,
			&(struct nvml_sample){
				row->pid, at, row->sm, row->memory, row->encoder, row->decoder});
	}
	return found;
}

int nvmlDeviceGetProcessUtilization(const void *handle, struct nvml_sample *samples,
	unsigned *count, unsigned long long last_seen)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetProcessUtilization", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	if (t->gpu[gpu].mig_current != 0)
		return NVML_ERROR_NOT_SUPPORTED;
	unsigned room = samples != NULL ? *count : 0;
	unsigned found = samples_list(t, gpu, samples, room, last_seen);
	if (samples == NULL) {
		*count = found > NVML_SIZING_ROWS ? found : NVML_SIZING_ROWS;
		return NVML_ERROR_INSUFFICIENT_SIZE;
	}
	if (answer_growth(t, "nvmlDeviceGetProcessUtilization", gpu) > 0)
		found = room + 1;
	*count = found;
	if (found == 0)
		return NVML_ERROR_NOT_FOUND;
	return found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}
