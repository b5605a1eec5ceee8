/* A frame, then pods, containers, devices: each level of the message is one function. */
#include "formats/pod_resources.h"

#include "model/gpu.h"
#include "proto.h"

#define FRAME_BYTES    5
#define NAME_MAX_CHARS 253

/* The numbers of the fields, from k8s.io/kubelet/pkg/apis/podresources/v1. */
enum { LIST_PODS = 1 };
enum { POD_NAME = 1, POD_NAMESPACE = 2, POD_CONTAINERS = 3 };
enum { CONTAINER_NAME = 1, CONTAINER_DEVICES = 2 };
enum { DEVICES_RESOURCE = 1, DEVICES_IDS = 2 };

struct reading {
	const char *resources;
	struct arena *arena;
	struct pod_resources *all;
	struct node_device devices[NODE_TOLD_MAX]; /* of the pod that is read */
	uint32_t count, total;
	struct fault *fault;
};

static int refuse_answer(const struct reading *r, const char *what)
{
	return fault_set(r->fault, FAULT_INVALID, "the kubelet's answer has %s", what);
}

/* What Kubernetes calls things is of this; anything else is not looked up and not repeated. */
static bool is_name(struct view v)
{
	for (size_t i = 0; i < v.n; i++) {
		if (v.p[i] <= ' ' || v.p[i] >= 0x7f) {
			return false;
		}
	}
	return v.n > 0 && v.n <= NAME_MAX_CHARS;
}

/* The last one counts, as the rules of the format have it. */
static int read_name(
	const struct reading *r, struct view message, uint32_t number, const char **ret_name)
{
	struct view rest = message, found, name = {NULL, 0};
	int more;
	while ((more = proto_find(&rest, number, &found)) == 1) {
		name = found;
	}
	if (more < 0 || !is_name(name)) {
		return refuse_answer(r, "something without a name that could be one");
	}
	*ret_name = arena_strndup(r->arena, name.p, name.n);
	return 0;
}

/* --- devices ---------------------------------------------------------------------------------- */

static bool is_asked_for(const struct reading *r, struct view resource)
{
	struct view rest = view_of(r->resources), part;
	while (view_next(&rest, ',', &part)) {
		part = view_trim(part);
		if (part.n > 0 && part.n == resource.n && memcmp(part.p, resource.p, part.n) == 0) {
			return true;
		}
	}
	return false;
}

static bool is_known(const struct reading *r, struct view uuid, const char *container)
{
	for (uint32_t i = 0; i < r->count; i++) {
		if (view_equals(uuid, r->devices[i].uuid) &&
			strcmp(r->devices[i].container, container) == 0) {
			return true;
		}
	}
	return false;
}

static int take_device(struct reading *r, struct view id, const char *container)
{
	const char *replica = memmem(id.p, id.n, "::", 2);
	struct view uuid = {id.p, replica != NULL ? (size_t)(replica - id.p) : id.n};
	if (view_starts_with(uuid, "MIG-")) {
		r->all->mig++;
		return 0;
	}
	if (!is_name(uuid) || uuid.n >= GPU_UUID_MAX || !view_starts_with(uuid, "GPU-")) {
		r->all->odd++;
		return 0;
	}
	if (is_known(r, uuid, container)) {
		return 0;
	}
	if (r->count == NODE_TOLD_MAX || r->total == POD_RESOURCES_DEVICES_MAX) {
		return fault_set(r->fault, FAULT_LIMIT,
			"the kubelet's answer has more than %d GPUs of one pod or %d in all",
			NODE_TOLD_MAX, POD_RESOURCES_DEVICES_MAX);
	}
	r->total++;
	r->devices[r->count++] = (struct node_device){
		.uuid = arena_strndup(r->arena, uuid.p, uuid.n), .container = container};
	return 0;
}

static int read_devices(struct reading *r, struct view message, const char *container)
{
	const char *resource;
	struct view rest = message, id;
	int more;
	if (read_name(r, message, DEVICES_RESOURCE, &resource) < 0) {
		return -1;
	}
	if (!is_asked_for(r, view_of(resource))) {
		return 0;
	}
	while ((more = proto_find(&rest, DEVICES_IDS, &id)) == 1) {
		if (take_device(r, id, container) < 0) {
			return -1;
		}
	}
	return more < 0 ? refuse_answer(r, "a list of devices that cannot be read") : 0;
}

/* --- containers and pods ---------------------------------------------------------------------- */

static int read_container(struct reading *r, struct view message)
{
	const char *name;
	struct view rest = message, devices;
	int more;
	if (read_name(r, message, CONTAINER_NAME, &name) < 0) {
		return -1;
	}
	while ((more = proto_find(&rest, CONTAINER_DEVICES, &devices)) == 1) {
		if (read_devices(r, devices, name) < 0) {
			return -1;
		}
	}
	return more < 0 ? refuse_answer(r, "a container that cannot be read") : 0;
}

static int read_pod(struct reading *r, struct view message, struct pod_devices *pod)
{
	struct view rest = message, container;
	int more;
	if (read_name(r, message, POD_NAME, &pod->name) < 0 ||
		read_name(r, message, POD_NAMESPACE, &pod->ns) < 0) {
		return -1;
	}
	r->count = 0;
	while ((more = proto_find(&rest, POD_CONTAINERS, &container)) == 1) {
		if (read_container(r, container) < 0) {
			return -1;
		}
	}
	if (more < 0) {
		return refuse_answer(r, "a pod that cannot be read");
	}
	pod->devices = ARENA_ARRAY(r->arena, struct node_device, r->count + 1);
	memcpy(pod->devices, r->devices, r->count * sizeof *r->devices);
	pod->count = r->count;
	return 0;
}

static int count_pods(const struct reading *r, struct view message, uint32_t *ret_count)
{
	struct view rest = message, pod;
	uint32_t count = 0;
	int more;
	while ((more = proto_find(&rest, LIST_PODS, &pod)) == 1) {
		if (++count > POD_RESOURCES_PODS_MAX) {
			return fault_set(r->fault, FAULT_LIMIT,
				"the kubelet's answer has more than %d pods",
				POD_RESOURCES_PODS_MAX);
		}
	}
	if (more < 0) {
		return refuse_answer(r, "something that is no field");
	}
	*ret_count = count;
	return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* One message, not compressed: a byte 0 and the length, most significant byte first. */
static int open_frame(const struct reading *r, struct view bytes, struct view *ret_message)
{
	uint64_t n = 0;
	if (bytes.n > POD_RESOURCES_BYTES_MAX) {
		return fault_set(r->fault, FAULT_LIMIT,
			"the kubelet's answer is larger than %zu bytes", POD_RESOURCES_BYTES_MAX);
	}
	if (bytes.n < FRAME_BYTES || bytes.p[0] != 0) {
		return refuse_answer(r, "no message of gRPC, or a compressed one");
	}
	for (int i = 1; i < FRAME_BYTES; i++) {
		n = n << 8 | (unsigned char)bytes.p[i];
	}
	if (n != bytes.n - FRAME_BYTES) {
		return refuse_answer(r, "a message of another length than it says");
	}
	*ret_message = (struct view){bytes.p + FRAME_BYTES, (size_t)n};
	return 0;
}

int pod_resources_decode(struct view bytes, const char *resources, struct arena *arena,
	struct pod_resources *ret_resources, struct fault *ret_fault)
{
	struct pod_resources all = {0};
	struct reading r = {
		.resources = resources, .arena = arena, .all = &all, .fault = ret_fault};
	struct view message, pod;
	uint32_t most = 0;
	if (open_frame(&r, bytes, &message) < 0 || count_pods(&r, message, &most) < 0) {
		return -1;
	}
	all.pods = ARENA_ARRAY(arena, struct pod_devices, most + 1);
	while (all.count < most && proto_find(&message, LIST_PODS, &pod) == 1) {
		if (read_pod(&r, pod, &all.pods[all.count]) < 0) {
			return fault_wrap(ret_fault, "pod %u", all.count + 1);
		}
		all.count++;
	}
	*ret_resources = all;
	return 0;
}
