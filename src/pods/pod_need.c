/* What a pod as a whole takes of its node, as the scheduler counts it. */
#include "pod_need.h"

#include "base/number.h"
#include "model/names.h"
#include "codec/parts.h"
#include "json/decode.h"

/* --- lists of requests --- */

static const struct field basic_fields[] = {
	FIELD("cpu", milli, AT(basics, cpu_milli)),
	FIELD("memory", units, AT(basics, mem_bytes)),
};
static const struct shape basic_shape = {SHAPE(basics, basic_fields)};

int basics_read(const json_t *list, struct basics *basics, struct fault *ret_fault)
{
	return list == NULL ? 0 : fields_read(list, &basic_shape, NULL, basics, ret_fault);
}

/* The one of that name, made if there is none; NULL where there is no room for it. */
static struct amount *amount_of(struct amounts *a, const char *name)
{
	uint32_t i = 0;
	while (i < a->count && strcmp(a->items[i].name, name) != 0) {
		i++;
	}
	if (i == EXTRA_AMOUNTS_MAX) {
		return NULL;
	}
	if (i == a->count) {
		a->items[a->count++] = (struct amount){.name = name};
	}
	return &a->items[i];
}

bool others_read(const json_t *list, struct arena *arena, struct amounts *others)
{
	json_t *all = (json_t *)(uintptr_t)list;
	const char *name;
	json_t *value;
	json_object_foreach(all, name, value)
	{
		if (strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 ||
			strcmp(name, NAME_GPU_RESOURCE) == 0 || !extra_word_is_sound(name)) {
			continue;
		}
		if (others->items == NULL) {
			others->items = ARENA_ARRAY(arena, struct amount, EXTRA_AMOUNTS_MAX);
		}
		struct amount *a = amount_of(others, name);
		if (a == NULL) {
			return false;
		}
		a->name = arena_strdup(arena, name);
		/* One that has no place in 64 bits is more than any node has. */
		if (parts_read_units(value, &a->value, NULL) < 0 || a->value < 0) {
			a->value = INT64_MAX;
		}
	}
	return true;
}

/* --- sums --- */

static int64_t saturating_sum(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* A member of struct container, or else one of its `others` by this name. */
struct basic {
	size_t at;
	const char *other;
};

#define BASIC(member)                                                                              \
	(struct basic)                                                                             \
	{                                                                                          \
		.at = offsetof(struct container, member)                                           \
	}

/* As the scheduler: containers and sidecars run together; an init container runs beside the
 * sidecars that were started before it. */
static int64_t need_of_pod(const struct pod *pod, struct basic basic)
{
	int64_t running = 0, sidecars = 0, starting = 0;
	for (uint32_t i = 0; i < pod->container_count; i++) {
		const struct container *c = &pod->containers[i];
		const void *member = (const char *)c + basic.at;
		int64_t amount = basic.other != NULL ? amounts_get(&c->others, basic.other)
						     : *(const int64_t *)member;
		if (!c->init || c->sidecar) {
			running = saturating_sum(running, amount);
		}
		if (c->sidecar) {
			sidecars = saturating_sum(sidecars, amount);
			starting = larger_of(starting, sidecars);
		} else if (c->init) {
			starting = larger_of(starting, saturating_sum(sidecars, amount));
		}
	}
	return larger_of(running, starting);
}

/* What has no room makes the pod too complex to be placed; the scheduler counts it all the same. */
static struct amount *sum_of(struct pod *pod, const char *name)
{
	struct amount *a = amount_of(&pod->extra.amounts, name);
	pod->too_complex = pod->too_complex || a == NULL;
	return a;
}

static void sum_container(struct pod *pod, const struct container *c)
{
	for (uint32_t i = 0; i < c->others.count && !pod->too_complex; i++) {
		const struct amount *asks = &c->others.items[i];
		if (asks->value == 0 || amounts_get(&pod->extra.amounts, asks->name) != 0) {
			continue;
		}
		struct amount *a = sum_of(pod, asks->name);
		if (a != NULL) {
			a->value = need_of_pod(pod, (struct basic){.other = asks->name});
		}
	}
}

/* Requests of the pod as a whole stand in for the sum; overhead comes on top. */
static void sum_list(struct pod *pod, const struct amounts *list, bool on_top)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct amount *a = sum_of(pod, list->items[i].name);
		if (a != NULL) {
			a->value = saturating_sum(on_top ? a->value : 0, list->items[i].value);
		}
	}
}

static void count_others(
	const json_t *requests, const json_t *overhead, struct arena *arena, struct pod *pod)
{
	struct amounts whole = {0}, on_top = {0};
	bool all_read =
		others_read(requests, arena, &whole) && others_read(overhead, arena, &on_top);
	bool any = whole.count > 0 || on_top.count > 0;
	pod->too_complex = pod->too_complex || !all_read;
	for (uint32_t i = 0; i < pod->container_count && !any; i++) {
		any = pod->containers[i].others.count > 0;
	}
	if (!any) {
		return;
	}
	pod->extra.amounts.items = ARENA_ARRAY(arena, struct amount, EXTRA_AMOUNTS_MAX);
	for (uint32_t i = 0; i < pod->container_count; i++) {
		sum_container(pod, &pod->containers[i]);
	}
	sum_list(pod, &whole, false);
	sum_list(pod, &on_top, true);
}

int pod_need_decode(const struct reading *r, const json_t *spec, struct pod *pod)
{
	struct basics sum = {
		need_of_pod(pod, BASIC(cpu_milli)), need_of_pod(pod, BASIC(mem_bytes))};
	struct basics overhead = {0};
	const json_t *requests = NULL;
	const json_t *extra = NULL;
	if (decode_object(spec, "resources.requests", &requests, r->fault) < 0 ||
		decode_object(spec, "overhead", &extra, r->fault) < 0) {
		return -1;
	}
	if (basics_read(requests, &sum, r->fault) < 0) {
		return fault_wrap(r->fault, "resources.requests");
	}
	if (basics_read(extra, &overhead, r->fault) < 0) {
		return fault_wrap(r->fault, "overhead");
	}
	if (sum.cpu_milli < 0 || sum.mem_bytes < 0 || overhead.cpu_milli < 0 ||
		overhead.mem_bytes < 0) {
		return fault_set(r->fault, FAULT_INVALID, "resources: negative");
	}
	/* What the API server says in status.qosClass counts more, once it has. */
	pod->best_effort = sum.cpu_milli == 0 && sum.mem_bytes == 0;
	pod->cpu_milli = saturating_sum(sum.cpu_milli, overhead.cpu_milli);
	pod->mem_bytes = saturating_sum(sum.mem_bytes, overhead.mem_bytes);
	pod->gpus = need_of_pod(pod, BASIC(gpus));
	count_others(requests, extra, r->arena, pod);
	return 0;
}

/* --- ports of the node --- */

struct port {
	int64_t number;
	const char *protocol;
	const char *address;
};

static const struct field port_fields[] = {
	FIELD("hostPort", i64, AT(port, number)),
	FIELD("protocol", text, AT(port, protocol)),
	FIELD("hostIP", text, AT(port, address)),
};
static const struct shape port_shape = {SHAPE(port, port_fields)};

static int read_port(const struct reading *r, const json_t *object, struct pod *pod)
{
	struct host_ports *ports = &pod->extra.ports;
	struct port p = {0};
	if (json_is_object(object) && json_object_get(object, "hostPort") == NULL) {
		return 0;
	}
	if (fields_read(object, &port_shape, r->arena, &p, r->fault) < 0) {
		return -1;
	}
	if (p.number <= 0 || p.number > UINT16_MAX) {
		return 0;
	}
	if (ports->count >= EXTRA_PORTS_MAX) {
		pod->too_complex = true;
		return 0;
	}
	if (ports->items == NULL) {
		ports->items = ARENA_ARRAY(r->arena, struct host_port, EXTRA_PORTS_MAX);
	}
	bool all = text_empty(p.address) || strcmp(p.address, "0.0.0.0") == 0;
	ports->items[ports->count++] = (struct host_port){.port = (int32_t)p.number,
		.protocol = text_empty(p.protocol) ? "TCP" : p.protocol,
		.address = all ? "" : p.address};
	return 0;
}

int pod_ports_decode(const struct reading *r, const json_t *container, struct pod *pod)
{
	const json_t *ports = NULL;
	if (decode_array(container, "ports", &ports, r->fault) < 0) {
		return -1;
	}
	for (size_t i = 0; i < json_array_size(ports); i++) {
		if (read_port(r, json_array_get(ports, i), pod) < 0) {
			return fault_wrap(r->fault, "ports[%zu]", i);
		}
	}
	return 0;
}
