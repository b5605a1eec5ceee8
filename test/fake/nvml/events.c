/* Event sets: of all events only XIDs happen here. One that was in the file before a device was
 * registered is not told, as by the real library. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "answer.h"

struct event_set {
	bool listens[GPU_MAX];
	int told[GPU_MAX];
};

int nvmlEventSetCreate(void **set)
{
	struct topology *t;
	int rc = answer_system("nvmlEventSetCreate", &t);

	if (rc != NVML_SUCCESS)
		return rc;
	*set = calloc(1, sizeof(struct event_set));
	return *set != NULL ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

int nvmlEventSetFree(void *set)
{
	free(set);
	return NVML_SUCCESS;
}

int nvmlDeviceRegisterEvents(const void *handle, unsigned long long types, void *set)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceRegisterEvents", handle, &t, &gpu);
	struct event_set *to = set;

	if (rc != NVML_SUCCESS || (types & NVML_EVENT_XID) == 0)
		return rc;
	to->listens[gpu] = true;
	to->told[gpu] = t->gpu[gpu].xids;
	return NVML_SUCCESS;
}

static bool event_next(struct event_set *set, const struct topology *t, struct nvml_event_v1 *event)
{
	for (int i = 0; i < t->gpus; i++) {
		const struct gpu *gpu = &t->gpu[i];
		if (set->told[i] > gpu->xids)
			set->told[i] = gpu->xids; /* a file with fewer: they were taken back */
		if (!set->listens[i] || !gpu->visible || set->told[i] == gpu->xids)
			continue;
		*event = (struct nvml_event_v1){
			answer_handle(i), NVML_EVENT_XID, gpu->xid[set->told[i]++]};
		return true;
	}
	return false;
}

static int event_wait(
	const char *call, struct event_set *set, struct nvml_event_v1 *event, unsigned timeout_ms)
{
	static const struct timespec pause = {.tv_nsec = 10000000};

	for (unsigned waited_ms = 0;; waited_ms += 10) {
		struct topology *t;
		int rc = answer_system(call, &t);
		if (rc != NVML_SUCCESS)
			return rc;
		if (event_next(set, t, event))
			return NVML_SUCCESS;
		if (waited_ms >= timeout_ms)
			return NVML_ERROR_TIMEOUT;
		(void)nanosleep(&pause, NULL);
	}
}

int nvmlEventSetWait(void *set, struct nvml_event_v1 *event, unsigned timeout_ms)
{
	return event_wait("nvmlEventSetWait", set, event, timeout_ms);
}

#if FAKE_DRIVER >= 2
int nvmlEventSetWait_v2(void *set, struct nvml_event *event, unsigned timeout_ms)
{
	event->gpu_instance = event->compute_instance = NVML_NO_INSTANCE;
	return event_wait("nvmlEventSetWait_v2", set, &event->old, timeout_ms);
}
#endif
