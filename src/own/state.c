/* What an agent says of its node, read strictly: a device that is not healthy must not pass for a
 * healthy one, nor a pod that runs for one that does not. */
#include "own/state.h"

#include "json/decode.h"
#include "json/fields.h"
#include "model/gpu.h"

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

/* --- a device --- */

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

static int check_cause(const struct device_facts *f, struct fault *ret_fault)
{
	bool known =
		f->healthy || f->cause == NULL || texts_have(cause_words, ILL_CAUSES, f->cause);
	return known ? 0
		     : fault_set(ret_fault, FAULT_INVALID, "cause: '%.32s' is none we know",
			       f->cause);
}

static int check_mps(const struct device_facts *f, struct fault *ret_fault)
{
	if (f->mps_state == NULL) {
		return 0;
	}
	if (!texts_have(mps_words, MPS_STATES, f->mps_state)) {
		return fault_set(ret_fault, FAULT_INVALID, "mps.state: '%.32s' is none we know",
			f->mps_state);
	}
	return f->contexts < 0 || f->contexts > UINT32_MAX
		       ? fault_set(ret_fault, FAULT_INVALID, "mps.contexts: out of range")
		       : 0;
}

/* Half of it says nothing. More in use than there is cannot be, but that a driver counts its own.
 */
static int check_memory(const struct device_facts *f, struct fault *ret_fault)
{
	bool absent = f->total_mib < 0 && f->used_mib < 0;
	bool sound = f->total_mib >= 1 && f->total_mib <= STATE_MEMORY_MAX && f->used_mib >= 0 &&
		     f->used_mib <= STATE_MEMORY_MAX;
	return absent || sound ? 0
			       : fault_set(ret_fault, FAULT_INVALID, "memory: %lld of %lld MiB",
					 (long long)f->used_mib, (long long)f->total_mib);
}

static int check_device(const struct reading *r, void *noun)
{
	const struct device_facts *f = noun;
	if (!is_plain(f->uuid, GPU_UUID_MAX - 1)) {
		return fault_set(r->fault, FAULT_INVALID, "uuid: not a name");
	}
	if (strlen(text_or(f->why, "")) > STATE_WHY_MAX ||
		strlen(text_or(f->mps_why, "")) > STATE_WHY_MAX) {
		return fault_set(r->fault, FAULT_LIMIT, "why: longer than %d", STATE_WHY_MAX);
	}
	if (check_cause(f, r->fault) < 0 || check_memory(f, r->fault) < 0) {
		return -1;
	}
	return check_mps(f, r->fault);
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
static const struct shape device_shape = {SHAPE(device_facts, device_fields),
	.defaults = &(const struct device_facts){.total_mib = -1, .used_mib = -1},
	.finish = check_device};

/* One of the words, or the first. */
static unsigned number_of(const char *const *words, unsigned count, const char *word)
{
	size_t i = word != NULL ? texts_find(words, count, word) : 0;
	return i < count ? (unsigned)i : 0;
}

static struct device_state device_told(const struct device_facts *f)
{
	return (struct device_state){.uuid = f->uuid,
		.why = f->healthy	    ? NULL
		       : text_empty(f->why) ? "not said why"
					    : f->why,
		.cause = f->healthy ? ILL_ASKED : number_of(cause_words, ILL_CAUSES, f->cause),
		.total_mib = f->total_mib > 0 ? f->total_mib : 0,
		.used_mib = f->total_mib > 0 ? f->used_mib : 0,
		.mps = number_of(mps_words, MPS_STATES, f->mps_state),
		.contexts = f->mps_state != NULL ? (uint32_t)f->contexts : 0,
		.mps_why = f->mps_state == NULL || text_empty(f->mps_why) ? NULL : f->mps_why};
}

static struct device_facts facts_of_device(const struct device_state *d)
{
	return (struct device_facts){.uuid = d->uuid,
		.healthy = d->why == NULL,
		.why = d->why,
		.cause = d->why != NULL ? cause_words[d->cause] : NULL,
		.total_mib = d->total_mib,
		.used_mib = d->used_mib,
		.mps_state = mps_words[d->mps],
		.contexts = d->contexts,
		.mps_why = d->mps != MPS_UNSAID ? d->mps_why : NULL};
}

/* --- a pod --- */

struct use_facts {
	const char *uuid;
	int64_t mem_mib, processes;
};

static bool knows_memory(const void *use)
{
	return ((const struct use_facts *)use)->mem_mib >= 0;
}

static int check_use(const struct reading *r, void *noun)
{
	const struct use_facts *f = noun;
	bool sound = f->mem_mib >= -1 && f->mem_mib <= STATE_MEMORY_MAX && f->processes >= 0 &&
		     f->processes <= UINT32_MAX;
	return sound ? 0
		     : fault_set(r->fault, FAULT_INVALID, "memoryMiB or processes: out of range");
}

static const struct field use_fields[] = {
	FIELD("uuid", text, AT(use_facts, uuid), .required = true, .always = true),
	FIELD("memoryMiB", i64, AT(use_facts, mem_mib), .always = true, .when = knows_memory),
	FIELD("processes", i64, AT(use_facts, processes), .required = true, .always = true),
};
static const struct shape use_shape = {SHAPE(use_facts, use_fields),
	.defaults = &(const struct use_facts){.mem_mib = -1}, .finish = check_use};

struct pod_facts {
	const char *uid;
	int64_t processes;
	struct use_facts *uses;
	uint32_t use_count;
};

static int check_pod(const struct reading *r, void *noun)
{
	const struct pod_facts *f = noun;
	return is_plain(f->uid, STATE_TEXT_MAX) && f->processes >= 0
		       ? 0
		       : fault_set(r->fault, FAULT_INVALID, "uid or processes: out of range");
}

/* A pod is there also between two of its processes: that it is listed is what counts. */
static const struct field pod_fields[] = {
	FIELD("uid", text, AT(pod_facts, uid), .required = true, .always = true),
	FIELD("processes", i64, AT(pod_facts, processes), .required = true, .always = true),
	FIELD("devices", list, AT(pod_facts, uses), COUNT_AT(pod_facts, use_count),
		.inside = &use_shape),
};
static const struct shape pod_shape = {SHAPE(pod_facts, pod_fields), .finish = check_pod};

/* --- the whole --- */

struct facts {
	int64_t version, sequence, age_ms, time_ms;
	const char *node, *boot;
	struct device_facts *devices;
	struct pod_facts *pods;
	uint32_t device_count, pod_count;
};

static const struct field facts_fields[] = {
	FIELD("v", i64, AT(facts, version), .required = true, .always = true),
	FIELD("node", text, AT(facts, node), .required = true, .always = true),
	FIELD("boot", text, AT(facts, boot), .required = true, .always = true),
	FIELD("sequence", i64, AT(facts, sequence), .required = true, .always = true),
	FIELD("time", micro, AT(facts, time_ms), .required = true, .always = true),
	FIELD("ageMs", i64, AT(facts, age_ms), .required = true, .always = true),
};
static const struct field list_fields[] = {
	FIELD("devices", list, AT(facts, devices), COUNT_AT(facts, device_count), .required = true,
		.always = true, .inside = &device_shape),
	FIELD("pods", list, AT(facts, pods), COUNT_AT(facts, pod_count), .required = true,
		.always = true, .inside = &pod_shape),
};

static int check_facts(const struct reading *r, void *noun)
{
	const struct facts *f = noun;
	struct fault *ret_fault = r->fault;
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

static int check_lists(const struct reading *r, void *noun)
{
	const struct facts *f = noun;
	return f->device_count > STATE_DEVICES_MAX || f->pod_count > STATE_PODS_MAX
		       ? fault_set(r->fault, FAULT_LIMIT, "devices or pods: too many")
		       : 0;
}

/* Of another version nothing else is looked at. */
static const struct shape facts_shape = {SHAPE(facts, facts_fields), .finish = check_facts};
static const struct shape lists_shape = {SHAPE(facts, list_fields), .finish = check_lists};

static bool device_is_told(const struct node_state *s, const char *uuid)
{
	for (uint32_t i = 0; i < s->device_count; i++) {
		if (strcmp(s->devices[i].uuid, uuid) == 0) {
			return true;
		}
	}
	return false;
}

/* What the pod uses, behind what those before it do. */
static int take_pod(const struct pod_facts *f, struct node_state *s, struct fault *ret_fault)
{
	s->pods[s->pod_count++] = f->uid;
	for (uint32_t i = 0; i < f->use_count; i++) {
		const struct use_facts *use = &f->uses[i];
		if (!device_is_told(s, use->uuid)) {
			return fault_set(ret_fault, FAULT_INVALID,
				"devices[%u]: uuid: not one of devices", i);
		}
		if (s->use_count == STATE_USES_MAX) {
			return fault_set(ret_fault, FAULT_LIMIT, "devices: too many in all pods");
		}
		s->uses[s->use_count++] =
			(struct pod_use){f->uid, use->uuid, use->mem_mib, (uint32_t)use->processes};
	}
	return 0;
}

static int read_state(
	const json_t *root, struct arena *arena, struct node_state *s, struct fault *ret_fault)
{
	struct facts f = {0};
	size_t uses = 0;
	if (fields_read(root, &facts_shape, arena, &f, ret_fault) < 0 ||
		fields_read(root, &lists_shape, arena, &f, ret_fault) < 0) {
		return -1;
	}
	*s = (struct node_state){.node = f.node,
		.boot = f.boot,
		.sequence = f.sequence,
		.seen_ms = -f.age_ms,
		.devices = ARENA_ARRAY(arena, struct device_state, f.device_count),
		.pods = ARENA_ARRAY(arena, const char *, f.pod_count)};
	for (; s->device_count < f.device_count; s->device_count++) {
		s->devices[s->device_count] = device_told(&f.devices[s->device_count]);
	}
	for (uint32_t i = 0; i < f.pod_count; i++) {
		uses += f.pods[i].use_count;
	}
	s->uses = ARENA_ARRAY(arena, struct pod_use, uses < STATE_USES_MAX ? uses : STATE_USES_MAX);
	for (uint32_t i = 0; i < f.pod_count; i++) {
		if (take_pod(&f.pods[i], s, ret_fault) < 0) {
			return fault_wrap(ret_fault, "pods[%u]", i);
		}
	}
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

/* Those of one pod stand together, in the order of the pods. */
bool state_write(struct str *out, const struct node_state *s, int64_t wall_ms)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct facts f = {.version = STATE_VERSION,
		.sequence = s->sequence,
		.age_ms = -s->seen_ms,
		.time_ms = wall_ms,
		.node = s->node,
		.boot = s->boot,
		.devices = ARENA_ARRAY(&arena, struct device_facts, s->device_count),
		.device_count = s->device_count,
		.pods = ARENA_ARRAY(&arena, struct pod_facts, s->pod_count),
		.pod_count = s->pod_count};
	struct use_facts *uses = ARENA_ARRAY(&arena, struct use_facts, s->use_count);
	for (uint32_t i = 0; i < s->device_count; i++) {
		f.devices[i] = facts_of_device(&s->devices[i]);
	}
	for (uint32_t i = 0, next = 0; i < s->pod_count; i++) {
		struct pod_facts *pod = &f.pods[i];
		*pod = (struct pod_facts){.uid = s->pods[i], .uses = uses + next};
		for (; next < s->use_count && strcmp(s->uses[next].uid, pod->uid) == 0; next++) {
			const struct pod_use *u = &s->uses[next];
			uses[next] = (struct use_facts){u->uuid, u->mem_mib, u->processes};
			pod->processes += u->processes;
			pod->use_count++;
		}
	}
	struct build b = build_into(out);
	build_begin_object(&b);
	fields_write(&b, &facts_shape, "", &f);
	fields_write(&b, &lists_shape, "", &f);
	build_end(&b);
	return build_ok(&b);
}
