/* Who a pod is, what it was granted, and the names of its containers. */
#include "codec/node_pod.h"

#include "base/str.h"
#include "codec/capacity_text.h"
#include "model/names.h"
#include "parts.h"

#define MIRROR_NOTE  "kubernetes.io/config.mirror"
#define HASH_NOTE    "kubernetes.io/config.hash"
#define CONTAINER_ID 64 /* hexadecimal digits, after the runtime's name */

/* --- what a watch keeps --- */

static const struct slice_keep notes_keep[] = {
	SLICE_KEEP(NOTE_GPU_UUID),
	SLICE_KEEP(NOTE_COMPUTE_MILLI),
	SLICE_KEEP(NOTE_MEMORY_MIB),
	SLICE_KEEP(NOTE_CONTAINER),
	SLICE_KEEP(NOTE_ISOLATION),
	SLICE_KEEP(NOTE_MPS_THREADS),
	SLICE_KEEP(NOTE_MPS_MEMORY),
	SLICE_KEEP(MIRROR_NOTE),
	SLICE_KEEP(HASH_NOTE),
	PARTS_BOOKMARK_KEEP,
	SLICE_END,
};
static const struct slice_keep labels_keep[] = {
	SLICE_KEEP(LABEL_TENANT), SLICE_KEEP(LABEL_CAPACITY), SLICE_END};
static const struct slice_keep owner_keep[] = {SLICE_KEEP("kind"), SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP("deletionTimestamp"),
	SLICE_KEEP_IN("labels", labels_keep),
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_KEEP_IN("ownerReferences", owner_keep),
	SLICE_END,
};
static const struct slice_keep limits_keep[] = {SLICE_KEEP(NAME_GPU_RESOURCE), SLICE_END};
static const struct slice_keep resources_keep[] = {SLICE_KEEP_IN("limits", limits_keep), SLICE_END};
static const struct slice_keep container_keep[] = {
	SLICE_KEEP("name"), SLICE_KEEP_IN("resources", resources_keep), SLICE_END};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP_IN("containers", container_keep),
	SLICE_KEEP_IN("initContainers", container_keep),
	SLICE_END,
};
static const struct slice_keep terminated_keep[] = {
	SLICE_KEEP("exitCode"), SLICE_KEEP("message"), SLICE_END};
static const struct slice_keep state_keep[] = {
	SLICE_KEEP_IN("terminated", terminated_keep), SLICE_END};
static const struct slice_keep init_status_keep[] = {
	SLICE_KEEP("name"),
	SLICE_KEEP("containerID"),
	SLICE_KEEP_IN("state", state_keep),
	SLICE_KEEP_IN("lastState", state_keep),
	SLICE_END,
};
static const struct slice_keep container_status_keep[] = {
	SLICE_KEEP("name"), SLICE_KEEP("containerID"), SLICE_END};
static const struct slice_keep status_keep[] = {
	SLICE_KEEP("phase"),
	SLICE_KEEP_IN("initContainerStatuses", init_status_keep),
	SLICE_KEEP_IN("containerStatuses", container_status_keep),
	SLICE_KEEP_IN("ephemeralContainerStatuses", container_status_keep),
	SLICE_END,
};
static const struct slice_keep pod_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	SLICE_KEEP_IN("status", status_keep),
	SLICE_END,
};

const struct slice_keep *node_pod_projection(void)
{
	return pod_keep;
}

/* --- metadata: who it is and what it was granted --- */

static const char *text_at(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)); /* keys with dots are no paths */
}

static void read_uuids(const char *list, struct arena *arena, struct node_pod *pod)
{
	struct view rest = view_of(list), part;
	uint32_t count = gpu_list_count(list);
	if (count == 0 || count > MODEL_GPU_COUNT_MAX) {
		return;
	}
	pod->uuids = ARENA_ARRAY(arena, const char *, count);
	while (pod->uuid_count < count && view_next(&rest, ',', &part)) {
		pod->uuids[pod->uuid_count++] = arena_strndup(arena, part.p, part.n);
	}
}

static void read_grant(const json_t *notes, struct arena *arena, struct node_pod *pod)
{
	read_uuids(text_at(notes, NOTE_GPU_UUID), arena, pod);
	(void)!parse_i64(
		view_of(text_at(notes, NOTE_COMPUTE_MILLI)), 0, MODEL_GPU_MILLI, &pod->milli);
	(void)!parse_i64(view_of(text_at(notes, NOTE_MEMORY_MIB)), 0, INT32_MAX, &pod->mem_mib);
	pod->gpu_container = arena_strdup(arena, text_at(notes, NOTE_CONTAINER));
	pod->mps_threads = arena_strdup(arena, text_at(notes, NOTE_MPS_THREADS));
	pod->mps_memory = arena_strdup(arena, text_at(notes, NOTE_MPS_MEMORY));
}

/* Anybody may write annotations: it is a mirror only where a Node owns it, which nobody but its
 * kubelet may claim. */
static void read_hash(
	const json_t *meta, const json_t *notes, struct arena *arena, struct node_pod *pod)
{
	const json_t *owner = json_array_get(json_object_get(meta, "ownerReferences"), 0);
	const char *hash = text_at(notes, HASH_NOTE);
	if (hash != NULL && text_equals(hash, text_at(notes, MIRROR_NOTE)) &&
		text_equals(text_at(owner, "kind"), "Node")) {
		pod->config_hash = arena_strdup(arena, hash);
	}
}

static const struct decode_field meta_fields[] = {
	{"uid", DECODE_TEXT, true, offsetof(struct node_pod, uid), NULL},
	{"namespace", DECODE_TEXT, true, offsetof(struct node_pod, ns), NULL},
	{"name", DECODE_TEXT, true, offsetof(struct node_pod, name), NULL},
	{"deletionTimestamp", DECODE_TIME, false, offsetof(struct node_pod, deleting_ms), NULL},
};

static int read_meta(
	const json_t *meta, struct arena *arena, struct node_pod *pod, struct fault *ret_fault)
{
	const json_t *labels = NULL, *notes = NULL;
	if (decode_fields(meta, meta_fields, COUNT_OF(meta_fields), arena, pod, ret_fault) < 0 ||
		decode_object(meta, "labels", &labels, ret_fault) < 0 ||
		decode_object(meta, "annotations", &notes, ret_fault) < 0) {
		return fault_wrap(ret_fault, "metadata");
	}
	pod->tenant = text_equals(text_at(labels, LABEL_TENANT), "true");
	pod->capacity = text_equals(pod->ns, NAME_NAMESPACE) &&
			text_equals(text_at(labels, LABEL_CAPACITY), "true");
	pod->mps = (pod->tenant || pod->capacity) &&
		   text_equals(text_at(notes, NOTE_ISOLATION), ISOLATION_MPS_TEXT);
	if (pod->tenant) {
		read_grant(notes, arena, pod);
	}
	read_hash(meta, notes, arena, pod);
	return 0;
}

/* --- spec: the GPUs it asks for itself --- */

static int64_t gpus_of(const json_t *container)
{
	int64_t gpus = 0;
	const json_t *limits = decode_find(container, "resources.limits");
	(void)!parse_i64(view_of(text_at(limits, NAME_GPU_RESOURCE)), 0, INT32_MAX, &gpus);
	return gpus;
}

/* As the scheduler counts: together, or the init container with the most. */
static void read_gpus(const json_t *spec, struct arena *arena, struct node_pod *pod)
{
	const json_t *inits = decode_find(spec, "initContainers");
	const json_t *mains = decode_find(spec, "containers");
	uint32_t holders = 0;
	const char *holder = NULL;
	for (size_t i = 0; i < json_array_size(mains); i++) {
		int64_t gpus = gpus_of(json_array_get(mains, i));
		pod->gpus += gpus;
		holder = gpus > 0 ? text_at(json_array_get(mains, i), "name") : holder;
		holders += gpus > 0 ? 1 : 0;
	}
	for (size_t i = 0; i < json_array_size(inits); i++) {
		int64_t gpus = gpus_of(json_array_get(inits, i));
		pod->gpus = gpus > pod->gpus ? gpus : pod->gpus;
	}
	if (holders == 1 && !pod->tenant) {
		pod->gpu_container = arena_strdup(arena, holder);
	}
}

/* --- status: its containers --- */

/* "containerd://6f0c…"; NULL for what no cgroup is called. */
static const char *id_of(const char *text, struct arena *arena)
{
	const char *id = text != NULL ? strstr(text, "://") : NULL;
	id = id != NULL ? id + 3 : NULL;
	if (id == NULL || strlen(id) != CONTAINER_ID ||
		strspn(id, "0123456789abcdef") != CONTAINER_ID) {
		return NULL;
	}
	return arena_strdup(arena, id);
}

static void read_identity(const json_t *status, struct arena *arena, struct node_pod *pod)
{
	static const char *const states[] = {"state.terminated", "lastState.terminated"};
	for (size_t i = 0; i < COUNT_OF(states); i++) {
		const json_t *ended = decode_find(status, states[i]);
		const json_t *code = json_object_get(ended, "exitCode");
		struct gpu_identity id;
		if (json_is_integer(code) && json_integer_value(code) == 0) {
			const char *message = text_at(ended, "message");
			if (message != NULL && identity_decode(message, &id, NULL) == 0) {
				read_uuids(id.uuid, arena, pod);
			}
			return;
		}
	}
}

static void read_containers(
	const json_t *array, bool init, struct arena *arena, struct node_pod *pod)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *status = json_array_get(array, i);
		const char *name = text_at(status, "name");
		if (name == NULL || pod->container_count == NODE_CONTAINERS_MAX) {
			continue;
		}
		pod->containers[pod->container_count++] =
			(struct node_container){.name = arena_strdup(arena, name),
				.id = id_of(text_at(status, "containerID"), arena)};
		if (init && pod->capacity && text_equals(name, CAPACITY_INIT_CONTAINER)) {
			read_identity(status, arena, pod);
		}
	}
}

static enum pod_phase phase_of(const char *text)
{
	static const char *const words[] = {"Pending", "Running", "Succeeded", "Failed"};
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		if (text_equals(text, words[i])) {
			return (enum pod_phase)i;
		}
	}
	return text == NULL ? POD_PENDING : POD_UNKNOWN;
}

static void read_status(const json_t *status, struct arena *arena, struct node_pod *pod)
{
	static const char *const lists[] = {
		"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"};
	size_t count = 0;
	pod->phase = phase_of(text_at(status, "phase"));
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		count += json_array_size(json_object_get(status, lists[i]));
	}
	count = count < NODE_CONTAINERS_MAX ? count : NODE_CONTAINERS_MAX;
	pod->containers = count > 0 ? ARENA_ARRAY(arena, struct node_container, count) : NULL;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		read_containers(json_object_get(status, lists[i]), i == 0, arena, pod);
	}
}

int node_pod_decode(const char *json, size_t n, struct arena *arena, struct node_pod *ret_pod,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const json_t *meta = NULL, *spec = NULL, *status = NULL;
	struct node_pod pod = {0};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_object(root, "metadata", &meta, ret_fault) < 0 ||
		decode_object(root, "spec", &spec, ret_fault) < 0 ||
		decode_object(root, "status", &status, ret_fault) < 0 ||
		read_meta(meta, arena, &pod, ret_fault) < 0) {
		return fault_wrap(ret_fault, "pod");
	}
	read_gpus(spec, arena, &pod);
	read_status(status, arena, &pod);
	*ret_pod = pod;
	return 0;
}
