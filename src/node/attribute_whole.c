/* Pods of whole devices: who holds which. The kubelet knows and the API server does not. What the
 * kubelet told is taken; only of pods of which it has told nothing anything is concluded. */
#include "node/attribute_whole.h"

#include "attribute_parts.h"

#define SOURCE_ONLY_PLACE "only-place"

static bool is_whole_pod(const struct node_pod *pod)
{
	return (pod->gpus > 0 || pod->told_count > 0) && !pod->tenant && !pod->capacity &&
	       !work_pod_is_over(pod);
}

/* A device that is shared by now is no longer its own; and who was seen on more devices than it
 * asks for did not get them by asking. */
static bool was_seen_on(const struct work *w, const struct node_pod *pod, uint32_t device)
{
	return !w->usage->devices[device].shared && pod->seen_count <= pod->gpus &&
	       node_pod_seen(pod, w->sample->devices[device].device.identity.uuid);
}

static bool has_process(const struct work *w, const struct node_pod *pod, uint32_t device)
{
	vec_for_each (const struct entry, e, &w->entries) {
		if (e->device == device && e->pod == pod && e->kind == ENTRY_PROCESS &&
			e->loss == LOSS_COUNT) {
			return true;
		}
	}
	return false;
}

/* What is not known of one device may be what decides about another. */
static bool is_unclear(const struct work *w)
{
	for (uint32_t d = 0; d < w->sample->device_count; d++) {
		if (!w->usage->devices[d].shared && w->usage->devices[d].blind) {
			return true;
		}
	}
	vec_for_each (const struct entry, e, &w->entries) {
		if (e->loss == LOSS_UNKNOWN_POD && !w->usage->devices[e->device].shared) {
			return true;
		}
	}
	return false;
}

/* Who lacks how many devices. */
struct lack {
	const struct node_pod *pod; /* the only one; NULL: there are several, or none */
	uint32_t pods;
	int64_t devices;
};

static void add_lack(struct lack *lack, const struct node_pod *pod, int64_t devices)
{
	if (devices > 0) {
		lack->pod = lack->pods == 0 ? pod : NULL;
		lack->pods++;
		lack->devices += devices;
	}
}

/* A device that is shared by us is not a pod's own, whoever says so. */
static void add_told(struct work *w, const struct node_pod *pod, bool *taken)
{
	for (uint32_t i = 0; i < pod->told_count; i++) {
		const struct node_device *told = &pod->told[i];
		for (uint32_t d = 0; d < w->sample->device_count; d++) {
			if (!text_equals(w->sample->devices[d].device.identity.uuid, told->uuid)) {
				continue;
			}
			taken[d] = true;
			if (!pod->capacity && !w->usage->devices[d].shared) {
				work_add_holder(w, &(struct holding){.pod = pod,
							   .device = d,
							   .container = told->container});
			}
			break;
		}
	}
}

static void add_holdings(struct work *w, const struct node_pod *pod, bool *taken, struct lack *lack)
{
	int64_t held = 0;
	for (uint32_t d = 0; d < w->sample->device_count; d++) {
		bool seen = was_seen_on(w, pod, d);
		if (seen) {
			work_add_holder(w, &(struct holding){.pod = pod, .device = d});
		}
		if (seen || has_process(w, pod, d)) {
			taken[d] = true;
			held++;
		}
	}
	add_lack(lack, pod, pod->gpus - held);
}

void whole_add(struct work *w)
{
	uint32_t devices = w->sample->device_count;
	bool *taken = ARENA_ARRAY(w->arena, bool, devices + 1);
	struct lack lack = {0};
	bool unclear = is_unclear(w);
	for (uint32_t i = 0; i < node_pods_count(w->pods); i++) {
		const struct node_pod *pod = node_pods_at(w->pods, i);
		bool holds = is_whole_pod(pod) || (pod->capacity && !work_pod_is_over(pod));
		if (holds && pod->told_count > 0) {
			add_told(w, pod, taken);
		} else if (is_whole_pod(pod)) {
			add_holdings(w, pod, taken, &lack);
		} else if (holds && pod->uuid_count == 0) {
			/* It holds one and has not said which. */
			add_lack(&lack, NULL, 1);
		}
	}
	int64_t free_count = 0;
	for (uint32_t d = 0; d < devices; d++) {
		free_count += !taken[d] && !w->usage->devices[d].shared;
	}
	if (unclear || lack.pod == NULL || lack.devices != free_count) {
		return;
	}
	for (uint32_t d = 0; d < devices; d++) {
		if (!taken[d] && !w->usage->devices[d].shared) {
			work_add_holder(w,
				&(struct holding){
					.pod = lack.pod, .device = d, .source = SOURCE_ONLY_PLACE});
		}
	}
}

void usage_remember(
	const struct usage *usage, const struct gpu_sample *sample, struct node_pods *pods)
{
	for (uint32_t i = 0; i < usage->pod_count; i++) {
		const struct pod_usage *p = &usage->pods[i];
		if (p->charged && p->use.processes > 0 && is_whole_pod(p->pod)) {
			const char *uuid = sample->devices[p->device].device.identity.uuid;
			node_pods_saw(pods, p->pod->uid, uuid);
		}
	}
}
