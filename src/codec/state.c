/* What an agent says of its node, read strictly: a device that is not healthy must not pass for a
 * healthy one, nor a pod that runs for one that does not. */
#include "codec/state.h"

#include "base/clock.h"
#include "json/build.h"
#include "json/decode.h"
#include "model/gpu.h"

struct facts {
	int64_t version, sequence, age_ms, time_ms;
	const char *node, *boot;
};

static const struct decode_field facts_fields[] = {
	{"v", DECODE_I64, true, offsetof(struct facts, version), NULL},
	{"node", DECODE_TEXT, true, offsetof(struct facts, node), NULL},
	{"boot", DECODE_TEXT, true, offsetof(struct facts, boot), NULL},
	{"sequence", DECODE_I64, true, offsetof(struct facts, sequence), NULL},
	{"ageMs", DECODE_I64, true, offsetof(struct facts, age_ms), NULL},
	{"time", DECODE_TIME, true, offsetof(struct facts, time_ms), NULL},
};

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

static const struct decode_field device_fields[] = {
	{"uuid", DECODE_TEXT, true, offsetof(struct device_facts, uuid), NULL},
	{"healthy", DECODE_BOOL, true, offsetof(struct device_facts, healthy), NULL},
	{"why", DECODE_TEXT, false, offsetof(struct device_facts, why), NULL},
	{"cause", DECODE_TEXT, false, offsetof(struct device_facts, cause), NULL},
	{"memory.totalMiB", DECODE_I64, false, offsetof(struct device_facts, total_mib), NULL},
	{"memory.usedMiB", DECODE_I64, false, offsetof(struct device_facts, used_mib), NULL},
	{"mps.state", DECODE_TEXT, false, offsetof(struct device_facts, mps_state), NULL},
	{"mps.contexts", DECODE_I64, false, offsetof(struct device_facts, contexts), NULL},
	{"mps.why", DECODE_TEXT, false, offsetof(struct device_facts, mps_why), NULL},
};

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
	if (decode_fields(object, device_fields, COUNT_OF(device_fields), arena, &f, ret_fault) <
		0) {
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

static const struct decode_field pod_fields[] = {
	{"uid", DECODE_TEXT, true, offsetof(struct pod_facts, uid), NULL},
	{"processes", DECODE_I64, true, offsetof(struct pod_facts, processes), NULL},
};

struct use_facts {
	const char *uuid;
	int64_t mem_mib, processes;
};

static const struct decode_field use_fields[] = {
	{"uuid", DECODE_TEXT, true, offsetof(struct use_facts, uuid), NULL},
	{"memoryMiB", DECODE_I64, false, offsetof(struct use_facts, mem_mib), NULL},
	{"processes", DECODE_I64, true, offsetof(struct use_facts, processes), NULL},
};

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
	if (decode_fields(object, use_fields, COUNT_OF(use_fields), arena, &f, ret_fault) < 0) {
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
	if (decode_fields(object, pod_fields, COUNT_OF(pod_fields), arena, &f, ret_fault) < 0) {
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
	if (!json_is_object(root)) {
		return decode_mismatch(root, "object", ret_fault);
	}
	if (decode_fields(root, facts_fields, COUNT_OF(facts_fields), arena, &f, ret_fault) < 0 ||
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

static void write_mps(struct build *b, const struct device_state *d)
{
	build_object_at(b, "mps");
	build_text_at(b, "state", mps_words[d->mps]);
	build_i64_at(b, "contexts", d->contexts);
	if (d->mps_why != NULL) {
		build_text_at(b, "why", d->mps_why);
	}
	build_end(b);
}

static void write_device(struct build *b, const struct device_state *d)
{
	build_begin_object(b);
	build_text_at(b, "uuid", d->uuid);
	build_bool_at(b, "healthy", d->why == NULL);
	if (d->why != NULL) {
		build_text_at(b, "why", d->why);
		build_text_at(b, "cause", cause_words[d->cause]);
	}
	if (d->total_mib > 0) {
		build_object_at(b, "memory");
		build_i64_at(b, "totalMiB", d->total_mib);
		build_i64_at(b, "usedMiB", d->used_mib);
		build_end(b);
	}
	if (d->mps != MPS_UNSAID) {
		write_mps(b, d);
	}
	build_end(b);
}

static void write_use(struct build *b, const struct pod_use *u)
{
	build_begin_object(b);
	build_text_at(b, "uuid", u->uuid);
	if (u->mem_mib >= 0) {
		build_i64_at(b, "memoryMiB", u->mem_mib);
	}
	build_i64_at(b, "processes", u->processes);
	build_end(b);
}

/* Those of one pod stand together, in the order of the pods. */
static void write_pod(struct build *b, const struct node_state *s, const char *uid, uint32_t *next)
{
	uint32_t first = *next, processes = 0;
	while (*next < s->use_count && strcmp(s->uses[*next].uid, uid) == 0) {
		processes += s->uses[(*next)++].processes;
	}
	build_begin_object(b);
	build_text_at(b, "uid", uid);
	build_i64_at(b, "processes", processes);
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
	char time[TIME_TEXT_MAX];
	struct build b = build_into(out);
	build_begin_object(&b);
	build_i64_at(&b, "v", STATE_VERSION);
	build_text_at(&b, "node", s->node);
	build_text_at(&b, "boot", s->boot);
	build_i64_at(&b, "sequence", s->sequence);
	build_text_at(&b, "time", time_format_micro(wall_ms, time));
	build_i64_at(&b, "ageMs", -s->seen_ms);
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
