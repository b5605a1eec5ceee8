/* Containers: what each asks for, and what admission wants to know besides. */
#include "pod_container.h"

#include "model/names.h"
#include "codec/parts.h"
#include "json/decode.h"
#include "pod_need.h"

/* Of one container, see pod_decode.c. */
#define LIST_MAX  16384
#define IMAGE_MAX 4096

static const struct field container_fields[] = {
	FIELD("name", text, AT(container, name)),
	FIELD("image", text, AT(container, image), .bytes = IMAGE_MAX),
	{.path = "ports",
		.bytes = LIST_MAX,
		.keys = WORDS("name", "containerPort", "hostPort", "hostIP", "protocol")},
	FIELD_KEPT("restartPolicy"),
	{.path = "resources.limits", .bytes = LIST_MAX},
	{.path = "resources.requests", .bytes = LIST_MAX},
	{.path = "resources.claims", .bytes = LIST_MAX},
};
const struct shape pod_container_shape = {SHAPE(container, container_fields)};

static int read_devices(const json_t *list, struct container *c, struct fault *ret_fault)
{
	json_t *all = (json_t *)list;
	const char *name;
	json_t *value;
	json_object_foreach(all, name, value)
	{
		if (strcmp(name, NAME_GPU_RESOURCE) == 0) {
			if (parts_read_units(value, &c->gpus, ret_fault) < 0) {
				return fault_wrap(ret_fault, "%s", name);
			}
		} else if (strncmp(name, NAME_MIG_PREFIX, strlen(NAME_MIG_PREFIX)) == 0) {
			c->mig = true;
		}
	}
	return 0;
}

/* What the API server accepts of devices: a whole number as the limit, and no other request. Of a
 * pod that it accepted it holds anyway; one that it is still to judge must not be made valid by us.
 */
static bool gpus_are_valid(const json_t *limits, const json_t *requests)
{
	const json_t *limit = json_object_get(limits, NAME_GPU_RESOURCE);
	const json_t *request = json_object_get(requests, NAME_GPU_RESOURCE);
	int64_t most = 0;
	int64_t wanted = 0;
	if (limit == NULL || request == NULL) {
		return request == NULL && (limit == NULL || parts_is_whole(limit));
	}
	return parts_is_whole(limit) && parts_is_whole(request) &&
	       parts_read_units(limit, &most, NULL) == 0 &&
	       parts_read_units(request, &wanted, NULL) == 0 && most == wanted;
}

static int read_resources(const struct reading *r, const json_t *object, struct container *c)
{
	const json_t *limits = NULL;
	const json_t *requests = NULL;
	const json_t *claims = NULL;
	struct basics basics = {0};
	if (decode_object(object, "resources.limits", &limits, r->fault) < 0 ||
		decode_object(object, "resources.requests", &requests, r->fault) < 0 ||
		decode_array(object, "resources.claims", &claims, r->fault) < 0) {
		return -1;
	}
	/* A limit without a request is the request; for devices the limit decides. */
	if (basics_read(limits, &basics, r->fault) < 0) {
		return fault_wrap(r->fault, "resources.limits");
	}
	if (basics_read(requests, &basics, r->fault) < 0 ||
		read_devices(requests, c, r->fault) < 0) {
		return fault_wrap(r->fault, "resources.requests");
	}
	if (read_devices(limits, c, r->fault) < 0) {
		return fault_wrap(r->fault, "resources.limits");
	}
	c->bad_gpus = !gpus_are_valid(limits, requests);
	c->cpu_milli = basics.cpu_milli;
	c->mem_bytes = basics.mem_bytes;
	c->too_many = !others_read(limits, r->arena, &c->others) ||
		      !others_read(requests, r->arena, &c->others);
	c->claims = json_array_size(claims) > 0;
	if (c->cpu_milli < 0 || c->mem_bytes < 0 || c->gpus < 0) {
		return fault_set(r->fault, FAULT_INVALID, "resources: negative");
	}
	return 0;
}

/* --- admission only --- */

static enum env_state state_of(const char *value)
{
	if (*value == '\0') {
		return ENV_EMPTY;
	}
	if (strcmp(value, "all") == 0) {
		return ENV_ALL;
	}
	return strcmp(value, "none") == 0 || strcmp(value, "void") == 0 ? ENV_NONE_OR_VOID
									: ENV_OTHER;
}

static int read_variable(const struct reading *r, const json_t *variable, struct container *c)
{
	const char *name = NULL;
	const char *value = NULL;
	if (decode_text(variable, "name", &name, r->fault) < 0 ||
		decode_text(variable, "value", &value, r->fault) < 0) {
		return -1;
	}
	bool from = decode_find(variable, "valueFrom") != NULL;
	name = text_or(name, "");
	value = text_or(value, "");
	if (strcmp(name, "NVIDIA_VISIBLE_DEVICES") == 0) {
		c->visible_devices = from ? ENV_VALUE_FROM : state_of(value);
	}
	c->env.items[c->env.count++] = (struct pair){.key = arena_strdup(r->arena, name),
		.value = from ? NULL : arena_strdup(r->arena, value)};
	return 0;
}

static int read_env(const struct reading *r, const json_t *object, struct container *c)
{
	const json_t *env = NULL;
	if (decode_array(object, "env", &env, r->fault) < 0) {
		return -1;
	}
	c->env_is_missing = env == NULL;
	size_t count = env != NULL ? json_array_size(env) : 0;
	if (count > 0) {
		c->env.items = ARENA_ARRAY(r->arena, struct pair, count);
	}
	for (size_t i = 0; i < count; i++) {
		if (read_variable(r, json_array_get(env, i), c) < 0) {
			return fault_wrap(r->fault, "env[%zu]", i);
		}
	}
	return 0;
}

static int read_args(const struct reading *r, const json_t *object, struct container *c)
{
	static const char *const lists[] = {"command", "args"};
	const char **texts[COUNT_OF(lists)];
	uint32_t counts[COUNT_OF(lists)];
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const json_t *list = NULL;
		if (decode_array(object, lists[i], &list, r->fault) < 0) {
			return -1;
		}
		if (decode_texts(list, r->arena, &texts[i], &counts[i], r->fault) < 0) {
			return fault_wrap(r->fault, "%s", lists[i]);
		}
	}
	c->command_count = counts[0];
	c->arg_count = counts[0] + counts[1];
	if (c->arg_count > 0) {
		c->args = ARENA_ARRAY(r->arena, const char *, c->arg_count);
	}
	for (uint32_t i = 0; i < c->arg_count; i++) {
		c->args[i] = i < counts[0] ? texts[0][i] : texts[1][i - counts[0]];
	}
	return 0;
}

static const struct field admission_fields[] = {
	FIELD("securityContext.privileged", flag, AT(container, privileged)),
};
static const struct shape admission_shape = {SHAPE(container, admission_fields)};

/* --- the list --- */

static int read_container(
	const struct reading *r, const json_t *object, bool admission, struct container *c)
{
	const char *restart = NULL;
	c->name = "";
	if (fields_read(object, &pod_container_shape, r->arena, c, r->fault) < 0 ||
		decode_text(object, "restartPolicy", &restart, r->fault) < 0 ||
		read_resources(r, object, c) < 0) {
		return -1;
	}
	c->sidecar = c->init && text_equals(restart, "Always");
	bool failed =
		admission && (fields_read(object, &admission_shape, r->arena, c, r->fault) < 0 ||
				     read_env(r, object, c) < 0 || read_args(r, object, c) < 0);
	return failed ? -1 : 0;
}

/* A tenant asks for none any more, and says which one it was. */
static void find_gpu_container(struct pod *pod)
{
	const char *noted = pod_is_tenant(pod) ? pairs_get(&pod->notes, NOTE_CONTAINER) : NULL;
	for (uint32_t i = 0; i < pod->container_count && pod->gpu_container == NULL; i++) {
		const struct container *c = &pod->containers[i];
		if (noted != NULL ? text_equals(c->name, noted) : c->gpus > 0) {
			pod->gpu_container = c->name;
			pod->gpu_image = c->image;
		}
	}
}

int pod_containers_decode(
	const struct reading *r, const json_t *spec, bool admission, struct pod *pod)
{
	static const char *const lists[] = {"initContainers", "containers"};
	const json_t *arrays[COUNT_OF(lists)] = {0};
	size_t count = 0;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		if (decode_array(spec, lists[i], &arrays[i], r->fault) < 0) {
			return -1;
		}
		count += arrays[i] != NULL ? json_array_size(arrays[i]) : 0;
	}
	pod->containers = count > 0 ? ARENA_ARRAY(r->arena, struct container, count) : NULL;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		size_t members = arrays[i] != NULL ? json_array_size(arrays[i]) : 0;
		for (size_t j = 0; j < members; j++) {
			struct container *c = &pod->containers[pod->container_count++];
			c->init = i == 0;
			const json_t *object = json_array_get(arrays[i], j);
			/* An init container that ends takes its ports only while no other runs. */
			if (read_container(r, object, admission, c) < 0 ||
				((!c->init || c->sidecar) &&
					pod_ports_decode(r, object, pod) < 0)) {
				return fault_wrap(r->fault, "%s[%zu]", lists[i], j);
			}
			pod->too_complex = pod->too_complex || c->too_many;
		}
	}
	find_gpu_container(pod);
	return pod_need_decode(r, spec, pod);
}
