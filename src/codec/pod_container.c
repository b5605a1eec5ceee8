/* Containers, and the requests of a pod as the scheduler counts them. */
#include "model/names.h"
#include "pod_parts.h"

static const struct slice_keep resources_keep[] = {
	SLICE_KEEP("limits"),
	SLICE_KEEP("requests"),
	SLICE_KEEP("claims"),
	SLICE_END,
};
const struct slice_keep pod_container_keep[] = {
	SLICE_KEEP("name"),
	SLICE_KEEP("restartPolicy"),
	SLICE_KEEP_IN("resources", resources_keep),
	SLICE_END,
};

struct amounts {
	int64_t cpu_milli;
	int64_t mem_bytes;
};

static const struct decode_field amount_fields[] = {
	{"cpu", DECODE_CUSTOM, false, offsetof(struct amounts, cpu_milli), parts_read_milli},
	{"memory", DECODE_CUSTOM, false, offsetof(struct amounts, mem_bytes), parts_read_units},
};

/* cpu and memory of a resource list; what it does not name stays. NULL: nothing named. */
static int read_amounts(const json_t *list, struct amounts *amounts, struct fault *ret_fault)
{
	return list == NULL ? 0
			    : decode_fields(list, amount_fields, COUNT_OF(amount_fields), NULL,
				      amounts, ret_fault);
}

static int read_devices(const json_t *list, struct container *c, struct fault *ret_fault)
{
	json_t *all = (json_t *)list;
	const char *name;
	json_t *value;
	json_object_foreach(all, name, value)
	{
		if (strcmp(name, NAME_GPU_RESOURCE) == 0) {
			if (parts_read_units(value, NULL, &c->gpus, ret_fault) < 0) {
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
	       parts_read_units(limit, NULL, &most, NULL) == 0 &&
	       parts_read_units(request, NULL, &wanted, NULL) == 0 && most == wanted;
}

static int read_resources(const json_t *object, struct container *c, struct fault *ret_fault)
{
	const json_t *limits = NULL;
	const json_t *requests = NULL;
	const json_t *claims = NULL;
	struct amounts amounts = {0};
	if (decode_object(object, "resources.limits", &limits, ret_fault) < 0 ||
		decode_object(object, "resources.requests", &requests, ret_fault) < 0 ||
		decode_array(object, "resources.claims", &claims, ret_fault) < 0) {
		return -1;
	}
	/* A limit without a request is the request; for devices the limit decides. */
	if (read_amounts(limits, &amounts, ret_fault) < 0) {
		return fault_wrap(ret_fault, "resources.limits");
	}
	if (read_amounts(requests, &amounts, ret_fault) < 0 ||
		read_devices(requests, c, ret_fault) < 0) {
		return fault_wrap(ret_fault, "resources.requests");
	}
	if (read_devices(limits, c, ret_fault) < 0) {
		return fault_wrap(ret_fault, "resources.limits");
	}
	c->bad_gpus = !gpus_are_valid(limits, requests);
	c->cpu_milli = amounts.cpu_milli;
	c->mem_bytes = amounts.mem_bytes;
	c->claims = json_array_size(claims) > 0;
	if (c->cpu_milli < 0 || c->mem_bytes < 0 || c->gpus < 0) {
		return fault_set(ret_fault, FAULT_INVALID, "resources: negative");
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

static int read_variable(
	const json_t *variable, struct arena *arena, struct container *c, struct fault *ret_fault)
{
	const char *name = NULL;
	const char *value = NULL;
	if (decode_text(variable, "name", &name, ret_fault) < 0 ||
		decode_text(variable, "value", &value, ret_fault) < 0) {
		return -1;
	}
	bool from = decode_find(variable, "valueFrom") != NULL;
	name = text_or(name, "");
	value = text_or(value, "");
	if (strcmp(name, "NVIDIA_VISIBLE_DEVICES") == 0) {
		c->visible_devices = from ? ENV_VALUE_FROM : state_of(value);
	}
	if (!from) {
		c->env.items[c->env.count++] = (struct pair){
			.key = arena_strdup(arena, name), .value = arena_strdup(arena, value)};
	}
	return 0;
}

static int read_env(
	const json_t *object, struct arena *arena, struct container *c, struct fault *ret_fault)
{
	const json_t *env = NULL;
	if (decode_array(object, "env", &env, ret_fault) < 0) {
		return -1;
	}
	c->env_is_missing = env == NULL;
	size_t count = env != NULL ? json_array_size(env) : 0;
	if (count > 0) {
		c->env.items = ARENA_ARRAY(arena, struct pair, count);
	}
	for (size_t i = 0; i < count; i++) {
		if (read_variable(json_array_get(env, i), arena, c, ret_fault) < 0) {
			return fault_wrap(ret_fault, "env[%zu]", i);
		}
	}
	return 0;
}

static int read_args(
	const json_t *object, struct arena *arena, struct container *c, struct fault *ret_fault)
{
	static const char *const lists[] = {"command", "args"};
	const char **texts[COUNT_OF(lists)];
	uint32_t counts[COUNT_OF(lists)];
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const json_t *list = NULL;
		if (decode_array(object, lists[i], &list, ret_fault) < 0) {
			return -1;
		}
		if (decode_texts(list, arena, &texts[i], &counts[i], ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s", lists[i]);
		}
	}
	c->arg_count = counts[0] + counts[1];
	if (c->arg_count > 0) {
		c->args = ARENA_ARRAY(arena, const char *, c->arg_count);
	}
	for (uint32_t i = 0; i < c->arg_count; i++) {
		c->args[i] = i < counts[0] ? texts[0][i] : texts[1][i - counts[0]];
	}
	return 0;
}

static const struct decode_field admission_fields[] = {
	{"image", DECODE_TEXT, false, offsetof(struct container, image), NULL},
	{"securityContext.privileged", DECODE_BOOL, false, offsetof(struct container, privileged),
		NULL},
};

static int read_for_admission(
	const json_t *object, struct arena *arena, struct container *c, struct fault *ret_fault)
{
	if (decode_fields(object, admission_fields, COUNT_OF(admission_fields), arena, c,
		    ret_fault) < 0 ||
		read_env(object, arena, c, ret_fault) < 0) {
		return -1;
	}
	return read_args(object, arena, c, ret_fault);
}

/* --- the list --- */

static const struct decode_field container_fields[] = {
	{"name", DECODE_TEXT, false, offsetof(struct container, name), NULL},
};

static int read_container(const json_t *object, bool admission, struct arena *arena,
	struct container *c, struct fault *ret_fault)
{
	const char *restart = NULL;
	c->name = "";
	if (decode_fields(object, container_fields, COUNT_OF(container_fields), arena, c,
		    ret_fault) < 0 ||
		decode_text(object, "restartPolicy", &restart, ret_fault) < 0 ||
		read_resources(object, c, ret_fault) < 0) {
		return -1;
	}
	c->sidecar = c->init && text_equals(restart, "Always");
	return admission ? read_for_admission(object, arena, c, ret_fault) : 0;
}

static int64_t add(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

struct need {
	int64_t cpu_milli;
	int64_t mem_bytes;
	int64_t gpus;
};

static struct need need_add(struct need n, const struct container *c)
{
	return (struct need){add(n.cpu_milli, c->cpu_milli), add(n.mem_bytes, c->mem_bytes),
		add(n.gpus, c->gpus)};
}

static struct need need_larger(struct need a, struct need b)
{
	return (struct need){larger(a.cpu_milli, b.cpu_milli), larger(a.mem_bytes, b.mem_bytes),
		larger(a.gpus, b.gpus)};
}

/* As the scheduler: containers and sidecars run together; an init container runs beside the
 * sidecars that were started before it. */
static struct need pod_need(const struct pod *pod)
{
	struct need running = {0};
	struct need sidecars = {0};
	struct need starting = {0};
	for (uint32_t i = 0; i < pod->container_count; i++) {
		const struct container *c = &pod->containers[i];
		if (!c->init || c->sidecar) {
			running = need_add(running, c);
		}
		if (c->sidecar) {
			sidecars = need_add(sidecars, c);
			starting = need_larger(starting, sidecars);
		} else if (c->init) {
			starting = need_larger(starting, need_add(sidecars, c));
		}
	}
	return need_larger(running, starting);
}

/* Requests of the pod as a whole stand in for the sum; overhead comes on top. */
static int count_need(const json_t *spec, struct pod *pod, struct fault *ret_fault)
{
	struct need need = pod_need(pod);
	struct amounts amounts = {need.cpu_milli, need.mem_bytes};
	struct amounts overhead = {0};
	const json_t *requests = NULL;
	const json_t *extra = NULL;
	if (decode_object(spec, "resources.requests", &requests, ret_fault) < 0 ||
		decode_object(spec, "overhead", &extra, ret_fault) < 0) {
		return -1;
	}
	if (read_amounts(requests, &amounts, ret_fault) < 0) {
		return fault_wrap(ret_fault, "resources.requests");
	}
	if (read_amounts(extra, &overhead, ret_fault) < 0) {
		return fault_wrap(ret_fault, "overhead");
	}
	if (amounts.cpu_milli < 0 || amounts.mem_bytes < 0 || overhead.cpu_milli < 0 ||
		overhead.mem_bytes < 0) {
		return fault_set(ret_fault, FAULT_INVALID, "resources: negative");
	}
	pod->cpu_milli = add(amounts.cpu_milli, overhead.cpu_milli);
	pod->mem_bytes = add(amounts.mem_bytes, overhead.mem_bytes);
	pod->gpus = need.gpus;
	return 0;
}

int pod_containers_decode(const json_t *spec, bool admission, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	static const char *const lists[] = {"initContainers", "containers"};
	const json_t *arrays[COUNT_OF(lists)] = {0};
	size_t count = 0;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		if (decode_array(spec, lists[i], &arrays[i], ret_fault) < 0) {
			return -1;
		}
		count += arrays[i] != NULL ? json_array_size(arrays[i]) : 0;
	}
	pod->containers = count > 0 ? ARENA_ARRAY(arena, struct container, count) : NULL;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		size_t members = arrays[i] != NULL ? json_array_size(arrays[i]) : 0;
		for (size_t j = 0; j < members; j++) {
			struct container *c = &pod->containers[pod->container_count++];
			c->init = i == 0;
			if (read_container(json_array_get(arrays[i], j), admission, arena, c,
				    ret_fault) < 0) {
				return fault_wrap(ret_fault, "%s[%zu]", lists[i], j);
			}
		}
	}
	return count_need(spec, pod, ret_fault);
}
