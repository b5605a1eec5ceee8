/* A kubelet's answer about the devices of its pods: whatever it is, what is found is well formed,
 * within the limits and stands in the bytes; and more bytes behind it are refused. */
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "formats/pod_resources.h"
#include "model/gpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RESOURCES "nvidia.com/gpu,nvidia.com/gpu.shared"

static void check_name(const char *bytes, size_t n, const char *name)
{
	ENSURE(name[0] != '\0' && strlen(name) <= 253);
	ENSURE(memmem(bytes, n, name, strlen(name)) != NULL);
}

static void check_pod(const char *bytes, size_t n, const struct pod_devices *pod)
{
	check_name(bytes, n, pod->ns);
	check_name(bytes, n, pod->name);
	ENSURE(pod->count <= NODE_TOLD_MAX);
	for (uint32_t i = 0; i < pod->count; i++) {
		const struct node_device *d = &pod->devices[i];
		check_name(bytes, n, d->uuid);
		check_name(bytes, n, d->container);
		ENSURE(strncmp(d->uuid, "GPU-", 4) == 0 && strlen(d->uuid) < GPU_UUID_MAX);
		ENSURE(strstr(d->uuid, "::") == NULL);
		for (uint32_t j = 0; j < i; j++) {
			ENSURE(strcmp(d->uuid, pod->devices[j].uuid) != 0 ||
				strcmp(d->container, pod->devices[j].container) != 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod_resources all;
	struct fault f = {0};
	if (pod_resources_decode((struct view){bytes, size}, RESOURCES, &arena, &all, &f) < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT);
		ENSURE(f.message[0] != '\0');
		return 0;
	}
	ENSURE(all.count <= POD_RESOURCES_PODS_MAX);
	for (uint32_t i = 0; i < all.count; i++) {
		check_pod(bytes, size, &all.pods[i]);
	}
	CLEANUP(str_finish) struct str more = STR_INIT(POD_RESOURCES_BYTES_MAX * 2);
	ENSURE(str_append(&more, bytes, size) && str_append_char(&more, 'x'));
	ENSURE(pod_resources_decode(
		       (struct view){str_text(&more), more.len}, RESOURCES, &arena, &all, &f) < 0);
	return 0;
}
