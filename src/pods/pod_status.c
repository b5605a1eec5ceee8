/* What has become of a pod. */
#include "pod_status.h"

#include "model/names.h"
#include "own/capacity_text.h"
#include "own/injection_text.h"
#include "codec/parts.h"
#include "json/decode.h"
#include "pod_oom.h"

#define FAILURE_SAID_MAX 160

/* See pod_decode.c. */
#define LIST_MAX     65536
#define SENTENCE_MAX 65536

/* --- conditions --- */

static const struct field placed_fields[] = {
	FIELD("type", text, AT(pod_condition, type), .required = true),
	FIELD("reason", text, AT(pod_condition, reason)),
	FIELD("message", text, AT(pod_condition, message)),
	FIELD("lastTransitionTime", time, AT(pod_condition, since_ms)),
};
static const struct shape placed_shape = {SHAPE(pod_condition, placed_fields)};

static int take_pod_condition(const struct reading *r, const void *item, void *noun)
{
	struct pod *pod = noun;
	const struct condition *c = item;
	bool is_true = text_equals(c->status, "True");
	if (text_equals(c->type, "Ready")) {
		pod->ready = is_true;
	} else if (text_equals(c->type, "PodScheduled")) {
		const char *reason = NULL;
		if (decode_text(r->object, "reason", &reason, r->fault) < 0) {
			return -1;
		}
		pod->unschedulable =
			text_equals(c->status, "False") && text_equals(reason, "Unschedulable");
	} else if (text_equals(c->type, "DisruptionTarget")) {
		pod->disrupted = is_true;
	} else if (text_equals(c->type, NAME_OVERUSE)) {
		pod->told_overuse = is_true;
	} else if (text_equals(c->type, NAME_CONTENTION)) {
		pod->told_contention = is_true;
	} else if (text_equals(c->type, NAME_PLACED)) {
		pod->placed.is_true = is_true;
		return fields_read(r->object, &placed_shape, r->arena, &pod->placed, r->fault);
	}
	return 0;
}

static const struct field condition_fields[] = {
	FIELD("type", text, AT(condition, type)),
	FIELD("status", text, AT(condition, status)),
	/* of some of them only */
	FIELD_KEPT("reason"),
	{.path = "message", .bytes = SENTENCE_MAX},
	FIELD_KEPT("lastTransitionTime"),
};
static const struct shape condition_shape = {SHAPE(condition, condition_fields)};

/* --- containers --- */

struct container_status {
	const char *name;
	const json_t *running, *waiting, *terminated, *before;
	bool ready;
	int32_t restarts;
};

static const struct field terminated_fields[] = {
	FIELD_KEPT("exitCode"),
	FIELD_KEPT("reason"),
	{.path = "message", .bytes = SENTENCE_MAX},
	FIELD_KEPT("finishedAt"),
};
static const struct shape terminated_shape = {SHAPE(container_status, terminated_fields)};

static const struct field container_fields[] = {
	FIELD("name", text, AT(container_status, name)),
	FIELD("ready", flag, AT(container_status, ready)),
	FIELD("restartCount", i32, AT(container_status, restarts)),
	FIELD("state.running", json, AT(container_status, running), .keys = WORDS_NONE),
	FIELD("state.waiting", json, AT(container_status, waiting), .keys = WORDS("reason")),
	FIELD("state.terminated", json, AT(container_status, terminated),
		.inside = &terminated_shape),
	FIELD("lastState.terminated", json, AT(container_status, before),
		.inside = &terminated_shape),
};
static const struct shape container_shape = {SHAPE(container_status, container_fields)};

static bool exited_well(const json_t *terminated)
{
	const json_t *code = decode_find(terminated, "exitCode");
	return json_is_integer(code) && json_integer_value(code) == 0;
}

static int read_identity(const struct reading *r, const struct container_status *s, struct pod *pod)
{
	const json_t *from = exited_well(s->terminated) ? s->terminated : s->before;
	const char *message = NULL;
	if (!exited_well(from)) {
		return 0;
	}
	if (decode_text(from, "message", &message, r->fault) < 0) {
		return fault_wrap(r->fault, "terminated");
	}
	struct gpu_identity *id = ARENA_NEW(r->arena, struct gpu_identity);
	/* A message that cannot be read is no identity yet: the pod is watched until it times out.
	 */
	if (text_empty(message) || identity_decode(message, id, NULL) < 0) {
		return 0;
	}
	pod->identity = id;
	return 0;
}

/* The last word of a probe. One that cannot be read says nothing. */
static int read_sight(const struct reading *r, const struct container_status *s, struct pod *pod)
{
	const char *message = NULL;
	if (!exited_well(s->terminated)) {
		return 0;
	}
	if (decode_text(s->terminated, "message", &message, r->fault) < 0) {
		return fault_wrap(r->fault, "terminated");
	}
	struct inject_sight *sight = ARENA_NEW(r->arena, struct inject_sight);
	if (!text_empty(message) && inject_sight_decode(message, r->arena, sight, NULL) == 0) {
		pod->sight = sight;
	}
	return 0;
}

/* What our own program said of its failure: the beginning of a sentence. The log's end, which a
 * kubelet takes where there is none, is JSON. */
static const char *failure_said(const struct container_status *s, struct arena *arena)
{
	const json_t *from = s->terminated != NULL ? s->terminated : s->before;
	const char *text = json_string_value(decode_find(from, "message"));
	size_t n = 0;
	if (exited_well(from) || text_empty(text) || text[0] == '{') {
		return NULL;
	}
	while (n < FAILURE_SAID_MAX && (unsigned char)text[n] >= ' ' && text[n] < 0x7f) {
		n++;
	}
	return n > 0 ? arena_strndup(arena, text, n) : NULL;
}

/* "CrashLoopBackOff" says that something failed; why, the capacity pod itself has told. */
static void explain_trouble(const struct container_status *s, struct arena *arena, struct pod *pod)
{
	const char *said = pod_is_capacity(pod) ? failure_said(s, arena) : NULL;
	pod->trouble = said != NULL ? said : pod->trouble;
}

static int read_trouble(const struct reading *r, const struct container_status *s, struct pod *pod)
{
	const char *reason = NULL;
	if (pod->trouble != NULL) {
		return 0;
	}
	if (decode_text(s->waiting, "reason", &reason, r->fault) < 0) {
		return fault_wrap(r->fault, "state.waiting");
	}
	/* Every container waits like these before its first start. */
	if (!text_empty(reason) && strcmp(reason, "ContainerCreating") != 0 &&
		strcmp(reason, "PodInitializing") != 0) {
		pod->trouble = arena_strdup(r->arena, reason);
		explain_trouble(s, r->arena, pod);
		return 0;
	}
	if (s->terminated == NULL || exited_well(s->terminated)) {
		return 0;
	}
	if (decode_text(s->terminated, "reason", &reason, r->fault) < 0) {
		return fault_wrap(r->fault, "state.terminated");
	}
	pod->trouble = text_empty(reason) ? "Error" : arena_strdup(r->arena, reason);
	explain_trouble(s, r->arena, pod);
	return 0;
}

static int take_container(
	const struct reading *r, bool init, const struct container_status *s, struct pod *pod)
{
	if (read_trouble(r, s, pod) < 0) {
		return -1;
	}
	pod_oom_note(s->terminated, pod);
	pod_oom_note(s->before, pod);
	if (!init && text_equals(s->name, pod->gpu_container)) {
		pod_oom_failed(s->terminated, pod);
		pod_oom_failed(s->before, pod);
	}
	pod->restarts += s->restarts > 0 ? (uint32_t)s->restarts : 0;
	if (init && text_equals(s->name, CAPACITY_INIT_CONTAINER)) {
		return read_identity(r, s, pod);
	}
	if (!init && text_equals(s->name, CAPACITY_MAIN_CONTAINER)) {
		pod->holds = s->ready && s->running != NULL;
	}
	if (!init && text_equals(s->name, PROBE_CONTAINER) && pod_is_probe(pod)) {
		return read_sight(r, s, pod);
	}
	return 0;
}

static int take_init(const struct reading *r, const void *item, void *noun)
{
	return take_container(r, true, item, noun);
}

static int take_main(const struct reading *r, const void *item, void *noun)
{
	return take_container(r, false, item, noun);
}

/* --- the whole --- */

static int read_phase(const struct reading *r, const json_t *value, void *to)
{
	enum pod_phase *phase = to;
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	if (fields_read_word(value, r->field->words, phase, NULL) < 0) {
		*phase = POD_UNKNOWN;
	}
	return 0;
}

static int read_quality(const struct reading *r, const json_t *value, void *to)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	*(bool *)to = strcmp(json_string_value(value), "BestEffort") == 0;
	return 0;
}

static const struct field_kind field_phase = {.read = read_phase};
static const struct field_kind field_quality = {.read = read_quality};

static const struct field status_fields[] = {
	FIELD("reason", text, AT(pod, status_reason)),
	FIELD("phase", phase, AT(pod, phase),
		.words = WORDS([POD_PENDING] = "Pending", [POD_RUNNING] = "Running",
			[POD_SUCCEEDED] = "Succeeded", [POD_FAILED] = "Failed")),
	FIELD("qosClass", quality, AT(pod, best_effort)),
	FIELD_KEPT("podIP"),
	FIELD("conditions", each, .inside = &condition_shape, .each = take_pod_condition,
		.bytes = LIST_MAX),
	FIELD("initContainerStatuses", each, .inside = &container_shape, .each = take_init,
		.bytes = LIST_MAX),
	FIELD("containerStatuses", each, .inside = &container_shape, .each = take_main,
		.bytes = LIST_MAX),
};
const struct shape pod_status_shape = {SHAPE(pod, status_fields)};
