/* What an agent says of its node, read strictly: a device that is not healthy must not pass for a
 * healthy one, nor a pod that runs for one that does not. */
#include "own/state.h"

#include "json/decode.h"
#include "json/fields.h"
#include "model/gpu.h"

struct facts {
	int64_t version, sequence, age_ms, time_ms;
	const char *node, *boot;
};

static const struct field facts_fields[] = {
	FIELD("v", i64, AT(facts, version), .required = true, .always = true),
	FIELD("node", text, AT(facts, node), .required = true, .always = true),
	FIELD("boot", text, AT(facts, boot), .required = true, .always = true),
	FIELD("sequence", i64, AT(facts, sequence), .required = true, .always = true),
	FIELD("time", micro, AT(facts, time_ms), .required = true, .always = true),
	FIELD("ageMs", i64, AT(facts, age_ms), .required = true, .always = true),
};
static const struct shape facts_shape = {SHAPE(facts, facts_fields)};

/* What is compared with other texts, and shown to people. */
static bool is_plain(const char *text, size_t most)
{
	size_t n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		if (text[i] <= ' ' || text[i] > '~') {
			return false;
		}
	}
	return n > 0 && n <= most;
}

static int check_facts(const struct facts *f, struct fault *ret_fault)
{
	if (f->version != STATE_VERSION) {
		return fault_set(ret_fault, FAULT_INVALID, "v: %lld, this program reads %d",
			(long long)f->version, STATE_VERSION);
	}
	if (!is_plain(f->node, STATE_NAME_MAX) || !is_plain(f->boot, STATE_TEXT_MAX)) {
		return fault_set(ret_fault, FAULT_INVALID, "node or boot: not a name");
	}
	if (f->sequence < 1) {
		return fault_set(
			ret_fault, FAULT_INVALID, "sequence: %lld", (long long)f->sequence);
	}
	if (f->age_ms < 0 || f->age_ms > STATE_AGE_MAX_MS) {
		return fault_set(ret_fault, FAULT_INVALID, "ageMs: %lld, at most %d is taken",
			(long long)f->age_ms, STATE_AGE_MAX_MS);
	}
	return 0;
}

/* --- devices --- */

struct device_facts {
	const char *uuid, *why, *cause, *mps_state, *mps_why;
	bool healthy;
	int64_t total_mib, used_mib, contexts;
};

static bool has_memory(const void *device)
{
	return ((const struct device_facts *)device)->total_mib > 0;
}

static bool is_client(const void *device)
{
	return ((const struct device_facts *)device)->mps_state != NULL;
}

static const struct field device_fields[] = {
	FIELD("uuid", text, AT(device_facts, uuid), .required = true, .always = true),
	FIELD("healthy", flag, AT(device_facts, healthy), .required = true, .always = true),
	FIELD("why", text, AT(device_facts, why)),
	FIELD("cause", text, AT(device_facts, cause)),
	FIELD("memory.totalMiB", i64, AT(device_facts, total_mib), .when = has_memory),
	FIELD("memory.usedMiB", i64, AT(device_facts, used_mib), .always = true,
		.when = has_memory),
	FIELD("mps.state", text, AT(device_facts, mps_state)),
	FIELD("mps.contexts", i64, AT(device_facts, contexts), .always = true, .when = is_client),
	FIELD("mps.why", text, AT(device_facts, mps_why)),
};
static const struct shape device_shape = {SHAPE(device_facts, device_fields)};

static const char *const mps_words[MPS_STATES] = {
	[MPS_STARTING] = "Starting",
	[MPS_ACTIVE] = "Active",
	[MPS_FAULT] = "Fault",
	[MPS_DOWN] = "Down",
};

static const char *const cause_words[ILL_CAUSES] = {
	[ILL_ASKED] = "Asked",
	[ILL_HEARD] = "Heard",
	[ILL_LOST] = "Lost",
};

static int read_cause(const struct device_facts *f, struct device_state *d, struct fault *ret_fault)
{
	if (f->healthy || f->cause == NULL) {
		return 0;
	}
	for (enum ill_cause i = ILL_ASKED; i < ILL_CAUSES; i++) {
		if (strcmp(f->cause, cause_words[i]) == 0) {
			d->cause = i;
			return 0;
		}
	}
	return fault_set(ret_fault, FAULT_INVALID, "cause: '%.32s' is none we know", f->cause);
}

static int read_mps(const struct device_facts *f, struct device_state *d, struct fault *ret_fault)
{
	if (f->mps_state == NULL) {
		return 0;
	}
	for (enum mps_state i = MPS_STARTING; i < MPS_STATES; i++) {
		if (strcmp(f->mps_state, mps_words[i]) == 0) {
			d->mps = i;
		}
	}
	if (d->mps == MPS_UNSAID) {
		return fault_set(ret_fault, FAULT_INVALID, "mps.state: '%.32s' is none we know",
			f->mps_state);
	}
	if (f->contexts < 0 || f->contexts > UINT32_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "mps.contexts: out of range");
	}
	d->contexts = (uint32_t)f->contexts;
	d->mps_why = text_empty(f->mps_why) ? NULL : f->mps_why;
	return 0;
}

/* Half of it says nothing. More in use than there is cannot be, but that a driver counts its own.
 */
static int read_memory(
	const struct device_facts *f, struct device_state *d, struct fault *ret_fault)
{
	if (f->total_mib < 0 && f->used_mib < 0) {
		return 0;
	}
	if (f->total_mib < 1 || f->total_mib > STATE_MEMORY_MAX || f->used_mib < 0 ||
		f->used_mib > STATE_MEMORY_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "memory: %lld of %lld MiB",
			(long long)f->used_mib, (long long)f->total_mib);
	}
	d->total_mib = f->total_mib;
	d->used_mib = f->used_mib;
	return 0;
}

static int read_device(
	const json_t *object, struct arena *arena, struct device_state *d, struct fault *ret_fault)
{
	struct device_facts f = {.total_mib = -1, .used_mib = -1};
	if (fields_read(object, &device_shape, arena, &f, ret_fault) < 0) {
		return -1;
	}
	if (!is_plain(f.uuid, GPU_UUID_MAX - 1)) {
		return fault_set(ret_fault, FAULT_INVALID, "uuid: not a name");
	}
	if (strlen(text_or(f.why, "")) > STATE_WHY_MAX ||
		strlen(text_or(f.mps_why, "")) > STATE_WHY_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "why: longer than %d", STATE_WHY_MAX);
	}
	const char *why = text_empty(f.why) ? "not said why" : f.why;
	*d = (struct device_state){.uuid = f.uuid, .why = f.healthy ? NULL : why};
	if (read_cause(&f, d, ret_fault) < 0 || read_memory(&f, d, ret_fault) < 0) {
		return -1;
	}
	return read_mps(&f, d, ret_fault);
}

static int read_devices(
	const json_t *root, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	const json_t *list = NULL;
	if (decode_array(root, "devices", &list, ret_fault) < 0) {
		return -1;
	}
	size_t count = json_array_size(list);
	if (list == NULL || count > STATE_DEVICES_MAX) {
		return fault_set(ret_fault, list == NULL ? FAULT_INVALID : FAULT_LIMIT,
			"devices: %s", list == NULL ? "missing" : "too many");
	}
	s->devices = ARENA_ARRAY(arena, struct device_state, count);
	for (size_t i = 0; i < count; i++) {
		if (read_device(json_array_get(list, i), arena, &s->devices[i], ret_fault) < 0) {
			return fault_wrap(ret_fault, "devices[%zu]", i);
		}
	}
	s->device_count = (uint32_t)count;
	return 0;
}

/* --- pods --- */

struct pod_facts {
	const char *uid;
	int64_t processes;
};

static const struct field pod_fields[] = {
	FIELD("uid", text, AT(pod_facts, uid), .required = true, .always = true),
	FIELD("processes", i64, AT(pod_facts, processes), .required = true, .always = true),
};
static const struct shape pod_shape = {SHAPE(pod_facts, pod_fields)};

struct use_facts {
	const char *uuid;
	int64_t mem_mib, processes;
};

static bool knows_memory(const void *use)
{
	return ((const struct use_facts *)use)->mem_mib >= 0;
}

static const struct field use_fields[] = {
	FIELD("uuid", text, AT(use_facts, uuid), .required = true, .always = true),
	FIELD("memoryMiB", i64, AT(use_facts, mem_mib), .always = true, .when = knows_memory),
	FIELD("processes", i64, AT(use_facts, processes), .required = true, .always = true),
};
static const struct shape use_shape = {SHAPE(use_facts, use_fields)};

static bool device_is_told(const struct node_state *s, const char *uuid)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		if (strcmp(s->devices[i].uuid, uuid) == 0) {
			return true;
		}
	}
	return false;
}

static int read_use(
	const json_t *object, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	struct use_facts f = {.mem_mib = -1};
	if (fields_read(object, &use_shape, arena, &f, ret_fault) < 0) {
		return -1;
	}
	if (!device_is_told(s, f.uuid)) {
		return fault_set(ret_fault, FAULT_INVALID, "uuid: not one of devices");
	}
	if (f.mem_mib < -1 || f.mem_mib > STATE_MEMORY_MAX || f.processes < 0 ||
		f.processes > UINT32_MAX) {
		return fault_set(ret_fault, FAULT_INVALID, "memoryMiB or processes: out of range");
	}
	s->uses[s->use_count++] =
		(struct pod_use){s->pods[s->pod_count], f.uuid, f.mem_mib, (uint32_t)f.processes};
	return 0;
}

static int read_uses(
	const json_t *pod, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	const json_t *list = NULL;
	if (decode_array(pod, "devices", &list, ret_fault) < 0) {
		return -1;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (s->use_count == STATE_USES_MAX) {
			return fault_set(ret_fault, FAULT_LIMIT, "devices: too many in all pods");
		}
		if (read_use(json_array_get(list, i), arena, s, ret_fault) < 0) {
			return fault_wrap(ret_fault, "devices[%zu]", i);
		}
	}
	return 0;
}

/* A pod is there also between two of its processes: that it is listed is what counts. */
static int read_pod(
	const json_t *object, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	struct pod_facts f = {0};
	if (fields_read(object, &pod_shape, arena, &f, ret_fault) < 0) {
		return -1;
	}
	if (!is_plain(f.uid, STATE_TEXT_MAX) || f.processes < 0) {
		return fault_set(ret_fault, FAULT_INVALID, "uid or processes: out of range");
	}
	s->pods[s->pod_count] = f.uid;
	if (read_uses(object, arena, s, ret_fault) < 0) {
		return -1;
	}
	s->pod_count++;
	return 0;
}

/* How many there may be in all: the limit, or what the list holds where that is less. */
static size_t count_uses(const json_t *pods)
{
	size_t count = 0;
	for (size_t i = 0; i < json_array_size(pods); i++) {
		count += json_array_size(json_object_get(json_array_get(pods, i), "devices"));
	}
	return count < STATE_USES_MAX ? count : STATE_USES_MAX;
}

static int read_pods(
	const json_t *root, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	const json_t *list = NULL;
	if (decode_array(root, "pods", &list, ret_fault) < 0) {
		return -1;
	}
	size_t count = json_array_size(list);
	if (list == NULL || count > STATE_PODS_MAX) {
		return fault_set(ret_fault, list == NULL ? FAULT_INVALID : FAULT_LIMIT, "pods: %s",
			list == NULL ? "missing" : "too many");
	}
	s->pods = ARENA_ARRAY(arena, const char *, count);
	s->uses = ARENA_ARRAY(arena, struct pod_use, count_uses(list));
	for (size_t i = 0; i < count; i++) {
		if (read_pod(json_array_get(list, i), arena, s, ret_fault) < 0) {
			return fault_wrap(ret_fault, "pods[%zu]", i);
		}
	}
	return 0;
}

static int read_state(
	const json_t *root, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	struct facts f = {0};
	if (fields_read(root, &facts_shape, arena, &f, ret_fault) < 0 ||
		check_facts(&f, ret_fault) < 0 || read_devices(root, arena, s, ret_fault) < 0 ||
		read_pods(root, arena, s, ret_fault) < 0) {
		return -1;
	}
	s->node = f.node;
	s->boot = f.boot;
	s->sequence = f.sequence;
	s->seen_ms = -f.age_ms;
	return 0;
}

int state_decode(const char *json, size_t n, struct arena *arena, struct node_state *ret_state,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct node_state s = {0};
	if (n > STATE_BYTES_MAX) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "state: larger than %zu bytes", STATE_BYTES_MAX);
	}
	if (decode_parse(json, n, DECODE_UNIQUE, &root, ret_fault) < 0 ||
		read_state(root, arena, &s, ret_fault) < 0) {
		return fault_wrap(ret_fault, "state");
	}
	*ret_state = s;
	return 0;
}

/* --- writing --- */

static void write_device(struct build *b, const struct device_state *d)
{
	const struct device_facts f = {.uuid = d->uuid,
		.healthy = d->why == NULL,
		.why = d->why,
		.cause = d->why != NULL ? cause_words[d->cause] : NULL,
		.total_mib = d->total_mib,
		.used_mib = d->used_mib,
		.mps_state = mps_words[d->mps],
		.contexts = d->contexts,
		.mps_why = d->mps != MPS_UNSAID ? d->mps_why : NULL};
	build_begin_object(b);
	fields_write(b, &device_shape, "", &f);
	build_end(b);
}

static void write_use(struct build *b, const struct pod_use *u)
{
	const struct use_facts f = {u->uuid, u->mem_mib, u->processes};
	build_begin_object(b);
	fields_write(b, &use_shape, "", &f);
	build_end(b);
}

/* Those of one pod stand together, in the order of the pods. */
static void write_pod(struct build *b, const struct node_state *s, const char *uid, uint32_t *next)
{
	struct pod_facts f = {.uid = uid};
	uint32_t first = *next;
	while (*next < s->use_count && strcmp(s->uses[*next].uid, uid) == 0) {
		f.processes += s->uses[(*next)++].processes;
	}
	build_begin_object(b);
	fields_write(b, &pod_shape, "", &f);
	if (first < *next) {
		build_array_at(b, "devices");
		for (uint32_t i = first; i < *next; i++) {
			write_use(b, &s->uses[i]);
		}
		build_end(b);
	}
	build_end(b);
}

bool state_write(struct str *out, const struct node_state *s, int64_t wall_ms)
{
	const struct facts f = {.version = STATE_VERSION,
		.sequence = s->sequence,
		.age_ms = -s->seen_ms,
		.time_ms = wall_ms,
		.node = s->node,
		.boot = s->boot};
	struct build b = build_into(out);
	build_begin_object(&b);
	fields_write(&b, &facts_shape, "", &f);
	build_array_at(&b, "devices");
	for (uint32_t i = 0; i < s->device_count; i++) {
		write_device(&b, &s->devices[i]);
	}
	build_end(&b);
	build_array_at(&b, "pods");
	for (uint32_t i = 0, next = 0; i < s->pod_count; i++) {
		write_pod(&b, s, s->pods[i], &next);
	}
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
