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

struct device_facts {
	const char *uuid, *why;
	bool healthy;
};

static const struct decode_field device_fields[] = {
	{"uuid", DECODE_TEXT, true, offsetof(struct device_facts, uuid), NULL},
	{"healthy", DECODE_BOOL, true, offsetof(struct device_facts, healthy), NULL},
	{"why", DECODE_TEXT, false, offsetof(struct device_facts, why), NULL},
};

static int read_device(
	const json_t *object, struct arena *arena, struct device_state *d, struct fault *ret_fault)
{
	struct device_facts f = {0};
	if (decode_fields(object, device_fields, COUNT_OF(device_fields), arena, &f, ret_fault) <
		0) {
		return -1;
	}
	if (!is_plain(f.uuid, GPU_UUID_MAX - 1)) {
		return fault_set(ret_fault, FAULT_INVALID, "uuid: not a name");
	}
	if (f.why != NULL && strlen(f.why) > STATE_WHY_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "why: longer than %d", STATE_WHY_MAX);
	}
	const char *why = text_empty(f.why) ? "not said why" : f.why;
	*d = (struct device_state){.uuid = f.uuid, .why = f.healthy ? NULL : why};
	return 0;
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

struct pod_facts {
	const char *uid;
	int64_t processes;
};

static const struct decode_field pod_fields[] = {
	{"uid", DECODE_TEXT, true, offsetof(struct pod_facts, uid), NULL},
	{"processes", DECODE_I64, true, offsetof(struct pod_facts, processes), NULL},
};

/* A pod is there also between two of its processes: that it is listed is what counts. */
static int read_pod(
	const json_t *object, struct arena *arena, const char **ret_uid, struct fault *ret_fault)
{
	struct pod_facts f = {0};
	if (decode_fields(object, pod_fields, COUNT_OF(pod_fields), arena, &f, ret_fault) < 0) {
		return -1;
	}
	if (!is_plain(f.uid, STATE_TEXT_MAX) || f.processes < 0) {
		return fault_set(ret_fault, FAULT_INVALID, "uid or processes: out of range");
	}
	*ret_uid = f.uid;
	return 0;
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
	for (size_t i = 0; i < count; i++) {
		if (read_pod(json_array_get(list, i), arena, &s->pods[i], ret_fault) < 0) {
			return fault_wrap(ret_fault, "pods[%zu]", i);
		}
	}
	s->pod_count = (uint32_t)count;
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

static void write_devices(struct build *b, const struct node_state *s)
{
	build_array_at(b, "devices");
	for (uint32_t i = 0; i < s->device_count; i++) {
		build_begin_object(b);
		build_text_at(b, "uuid", s->devices[i].uuid);
		build_bool_at(b, "healthy", s->devices[i].why == NULL);
		if (s->devices[i].why != NULL) {
			build_text_at(b, "why", s->devices[i].why);
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
	write_devices(&b, s);
	build_array_at(&b, "pods");
	for (uint32_t i = 0; i < s->pod_count; i++) {
		build_begin_object(&b);
		build_text_at(&b, "uid", s->pods[i]);
		build_i64_at(&b, "processes", 1);
		build_end(&b);
	}
	build_end(&b);
	build_end(&b);
	return build_ok(&b);
}
