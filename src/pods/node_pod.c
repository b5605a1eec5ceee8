/* Who a pod is, what it was granted, and the names of its containers. */
#include "pods/node_pod.h"

#include "base/str.h"
#include "own/capacity_text.h"
#include "model/names.h"
#include "codec/parts.h"

#define MIRROR_NOTE  "kubernetes.io/config.mirror"
#define HASH_NOTE    "kubernetes.io/config.hash"
#define CONTAINER_ID 64 /* hexadecimal digits, after the runtime's name */

struct raw {
	struct node_pod pod;
	const char *tenant, *capacity; /* labels */
	const char *uuids, *milli, *mem_mib, *isolation, *mirror;
};

/* --- metadata: who it is and what it was granted --- */

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

/* Anybody may write annotations: it is a mirror only where a Node owns it, which nobody but its
 * kubelet may claim. */
static bool is_mirror(const json_t *meta, const struct raw *raw)
{
	const json_t *owner = json_array_get(json_object_get(meta, "ownerReferences"), 0);
	return text_equals(raw->pod.config_hash, raw->mirror) &&
	       text_equals(decode_find_text(owner, "kind"), "Node");
}

static int finish_meta(const struct reading *r, void *noun)
{
	struct raw *raw = noun;
	struct node_pod *pod = &raw->pod;
	pod->tenant = text_equals(raw->tenant, "true");
	pod->capacity = text_equals(pod->ns, NAME_NAMESPACE) && text_equals(raw->capacity, "true");
	pod->mps =
		(pod->tenant || pod->capacity) && text_equals(raw->isolation, ISOLATION_MPS_TEXT);
	if (pod->tenant) {
		read_uuids(raw->uuids, r->arena, pod);
		(void)!parse_i64(view_of(raw->milli), 0, MODEL_GPU_MILLI, &pod->milli);
		(void)!parse_i64(view_of(raw->mem_mib), 0, INT32_MAX, &pod->mem_mib);
	} else {
		pod->gpu_container = pod->mps_threads = pod->mps_memory = NULL;
	}
	pod->config_hash = is_mirror(r->object, raw) ? pod->config_hash : NULL;
	return 0;
}

static const struct field meta_fields[] = {
	FIELD("uid", text, AT(raw, pod.uid), .required = true),
	FIELD("namespace", text, AT(raw, pod.ns), .required = true),
	FIELD("name", text, AT(raw, pod.name), .required = true),
	FIELD("deletionTimestamp", time, AT(raw, pod.deleting_ms)),
	FIELD("labels", map, .keys = WORDS_NONE),
	FIELD("annotations", map, .keys = WORDS_NONE),
	FIELD("labels/" LABEL_TENANT, note, AT(raw, tenant)),
	FIELD("labels/" LABEL_CAPACITY, note, AT(raw, capacity)),
	FIELD("annotations/" NOTE_GPU_UUID, note, AT(raw, uuids)),
	FIELD("annotations/" NOTE_COMPUTE_MILLI, note, AT(raw, milli)),
	FIELD("annotations/" NOTE_MEMORY_MIB, note, AT(raw, mem_mib)),
	FIELD("annotations/" NOTE_CONTAINER, note, AT(raw, pod.gpu_container)),
	FIELD("annotations/" NOTE_ISOLATION, note, AT(raw, isolation)),
	FIELD("annotations/" NOTE_MPS_THREADS, note, AT(raw, pod.mps_threads)),
	FIELD("annotations/" NOTE_MPS_MEMORY, note, AT(raw, pod.mps_memory)),
	FIELD("annotations/" MIRROR_NOTE, note, AT(raw, mirror)),
	FIELD("annotations/" HASH_NOTE, note, AT(raw, pod.config_hash)),
	FIELD_KEPT("ownerReferences.kind"),
};
static const struct shape meta_shape = {SHAPE(raw, meta_fields), .finish = finish_meta};

/* --- spec: the GPUs it asks for itself --- */

static int64_t gpus_of(const json_t *container)
{
	int64_t gpus = 0;
	const char *text = decode_find_text(container, "resources.limits/" NAME_GPU_RESOURCE);
	(void)!parse_i64(view_of(text), 0, INT32_MAX, &gpus);
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
		holder = gpus > 0 ? decode_find_text(json_array_get(mains, i), "name") : holder;
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
			const char *message = decode_find_text(ended, "message");
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
		const char *name = decode_find_text(status, "name");
		if (name == NULL || pod->container_count == NODE_CONTAINERS_MAX) {
			continue;
		}
		pod->containers[pod->container_count++] =
			(struct node_container){.name = arena_strdup(arena, name),
				.id = id_of(decode_find_text(status, "containerID"), arena)};
		if (init && pod->capacity && text_equals(name, CAPACITY_INIT_CONTAINER)) {
			read_identity(status, arena, pod);
		}
	}
}

static enum pod_phase phase_of(const char *text)
{
	static const char *const words[] = {"Pending", "Running", "Succeeded", "Failed"};
	/* What is no word of them is POD_UNKNOWN, which is their count. */
	return text == NULL ? POD_PENDING
			    : (enum pod_phase)texts_find(words, COUNT_OF(words), text);
}

static void read_status(const json_t *status, struct arena *arena, struct node_pod *pod)
{
	static const char *const lists[] = {
		"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"};
	size_t count = 0;
	pod->phase = phase_of(decode_find_text(status, "phase"));
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		count += json_array_size(json_object_get(status, lists[i]));
	}
	count = count < NODE_CONTAINERS_MAX ? count : NODE_CONTAINERS_MAX;
	pod->containers = count > 0 ? ARENA_ARRAY(arena, struct node_container, count) : NULL;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		read_containers(json_object_get(status, lists[i]), i == 0, arena, pod);
	}
}

static int finish_pod(const struct reading *r, void *noun)
{
	struct raw *raw = noun;
	const json_t *spec = NULL, *status = NULL;
	if (raw->pod.uid == NULL) {
		(void)decode_mismatch(NULL, "object", r->fault);
		return fault_wrap(r->fault, "metadata");
	}
	if (decode_object(r->object, "spec", &spec, r->fault) < 0 ||
		decode_object(r->object, "status", &status, r->fault) < 0) {
		return -1;
	}
	read_gpus(spec, r->arena, &raw->pod);
	read_status(status, r->arena, &raw->pod);
	return 0;
}

static const struct field pod_fields[] = {
	FIELD("metadata", object, .inside = &meta_shape),
	FIELD_KEPT("spec.containers.name"),
	FIELD_KEPT("spec.containers.resources.limits/" NAME_GPU_RESOURCE),
	FIELD_KEPT("spec.initContainers.name"),
	FIELD_KEPT("spec.initContainers.resources.limits/" NAME_GPU_RESOURCE),
	FIELD_KEPT("status.phase"),
	FIELD_KEPT("status.initContainerStatuses.name"),
	FIELD_KEPT("status.initContainerStatuses.containerID"),
	FIELD_KEPT("status.initContainerStatuses.state.terminated.exitCode"),
	FIELD_KEPT("status.initContainerStatuses.state.terminated.message"),
	FIELD_KEPT("status.initContainerStatuses.lastState.terminated.exitCode"),
	FIELD_KEPT("status.initContainerStatuses.lastState.terminated.message"),
	FIELD_KEPT("status.containerStatuses.name"),
	FIELD_KEPT("status.containerStatuses.containerID"),
	FIELD_KEPT("status.ephemeralContainerStatuses.name"),
	FIELD_KEPT("status.ephemeralContainerStatuses.containerID"),
};
static const struct shape pod_shape = {
	SHAPE(raw, pod_fields), .called = "pod", .flags = DECODE_MEND, .finish = finish_pod};

const struct slice_keep *node_pod_projection(void)
{
	return meta_projection(&pod_shape);
}

int node_pod_decode(const char *json, size_t n, struct arena *arena, struct node_pod *ret_pod,
	struct fault *ret_fault)
{
	struct raw raw;
	if (fields_decode((struct view){json, n}, &pod_shape, arena, &raw, ret_fault) < 0) {
		return -1;
	}
	*ret_pod = raw.pod;
	return 0;
}
