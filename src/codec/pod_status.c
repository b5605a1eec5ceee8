/* What has become of a pod. */
#include "model/names.h"
#include "codec/capacity_text.h"
#include "codec/injection_text.h"
#include "pod_parts.h"

#define FAILURE_SAID_MAX 160

/* See pod_decode.c. */
#define LIST_MAX     65536
#define SENTENCE_MAX 65536

static const struct slice_keep nothing_keep[] = {SLICE_END};
static const struct slice_keep waiting_keep[] = {SLICE_KEEP("reason"), SLICE_END};
static const struct slice_keep terminated_keep[] = {
	SLICE_KEEP("exitCode"),
	SLICE_KEEP("reason"),
	SLICE_KEEP_MOST("message", SENTENCE_MAX),
	SLICE_KEEP("finishedAt"),
	SLICE_END,
};
static const struct slice_keep state_keep[] = {
	SLICE_KEEP_IN("running", nothing_keep),
	SLICE_KEEP_IN("waiting", waiting_keep),
	SLICE_KEEP_IN("terminated", terminated_keep),
	SLICE_END,
};
static const struct slice_keep container_status_keep[] = {
	SLICE_KEEP("name"),
	SLICE_KEEP("ready"),
	SLICE_KEEP("restartCount"),
	SLICE_KEEP_IN("state", state_keep),
	SLICE_KEEP_IN("lastState", state_keep),
	SLICE_END,
};
static const struct slice_keep condition_keep[] = {
	SLICE_KEEP("type"),
	SLICE_KEEP("status"),
	SLICE_KEEP("reason"),
	SLICE_KEEP_MOST("message", SENTENCE_MAX),
	SLICE_KEEP("lastTransitionTime"),
	SLICE_END,
};
const struct slice_keep pod_status_keep[] = {
	SLICE_KEEP("phase"),
	SLICE_KEEP("reason"),
	SLICE_KEEP("qosClass"),
	SLICE_KEEP("podIP"),
	SLICE_KEEP_SOME("conditions", condition_keep, LIST_MAX),
	SLICE_KEEP_SOME("initContainerStatuses", container_status_keep, LIST_MAX),
	SLICE_KEEP_SOME("containerStatuses", container_status_keep, LIST_MAX),
	SLICE_END,
};

static enum pod_phase phase_of(const char *text)
{
	static const char *const words[] = {"Pending", "Running", "Succeeded", "Failed"};
	for (size_t i = 0; text != NULL && i < COUNT_OF(words); i++) {
		if (strcmp(text, words[i]) == 0) {
			return (enum pod_phase)i;
		}
	}
	return text == NULL ? POD_PENDING : POD_UNKNOWN;
}

/* --- conditions --- */

static const struct decode_field placed_fields[] = {
	{"type", DECODE_TEXT, true, offsetof(struct pod_condition, type), NULL},
	{"reason", DECODE_TEXT, false, offsetof(struct pod_condition, reason), NULL},
	{"message", DECODE_TEXT, false, offsetof(struct pod_condition, message), NULL},
	{"lastTransitionTime", DECODE_TIME, false, offsetof(struct pod_condition, since_ms), NULL},
};

static int read_condition(
	const json_t *object, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const char *type = NULL;
	const char *status = NULL;
	const char *reason = NULL;
	if (decode_text(object, "type", &type, ret_fault) < 0 ||
		decode_text(object, "status", &status, ret_fault) < 0) {
		return -1;
	}
	bool is_true = text_equals(status, "True");
	if (text_equals(type, "Ready")) {
		pod->ready = is_true;
	} else if (text_equals(type, "PodScheduled")) {
		if (decode_text(object, "reason", &reason, ret_fault) < 0) {
			return -1;
		}
		pod->unschedulable =
			text_equals(status, "False") && text_equals(reason, "Unschedulable");
	} else if (text_equals(type, "DisruptionTarget")) {
		pod->disrupted = is_true;
	} else if (text_equals(type, NAME_OVERUSE)) {
		pod->told_overuse = is_true;
	} else if (text_equals(type, NAME_CONTENTION)) {
		pod->told_contention = is_true;
	} else if (text_equals(type, NAME_PLACED)) {
		pod->placed.is_true = is_true;
		return decode_fields(object, placed_fields, COUNT_OF(placed_fields), arena,
			&pod->placed, ret_fault);
	}
	return 0;
}

/* --- containers --- */

struct container_status {
	const char *name; /* borrowed, like all text here */
	const json_t *running, *waiting, *terminated, *before;
	bool ready;
	int32_t restarts;
};

static const struct decode_field status_fields[] = {
	{"ready", DECODE_BOOL, false, offsetof(struct container_status, ready), NULL},
	{"restartCount", DECODE_I32, false, offsetof(struct container_status, restarts), NULL},
};

static int read_container_status(
	const json_t *object, struct container_status *s, struct fault *ret_fault)
{
	if (decode_fields(object, status_fields, COUNT_OF(status_fields), NULL, s, ret_fault) < 0 ||
		decode_text(object, "name", &s->name, ret_fault) < 0 ||
		decode_object(object, "state.running", &s->running, ret_fault) < 0 ||
		decode_object(object, "state.waiting", &s->waiting, ret_fault) < 0 ||
		decode_object(object, "state.terminated", &s->terminated, ret_fault) < 0 ||
		decode_object(object, "lastState.terminated", &s->before, ret_fault) < 0) {
		return -1;
	}
	return 0;
}

static bool exited_well(const json_t *terminated)
{
	const json_t *code = decode_find(terminated, "exitCode");
	return json_is_integer(code) && json_integer_value(code) == 0;
}

static int read_identity(const struct container_status *s, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	const json_t *from = exited_well(s->terminated) ? s->terminated : s->before;
	const char *message = NULL;
	if (!exited_well(from)) {
		return 0;
	}
	if (decode_text(from, "message", &message, ret_fault) < 0) {
		return fault_wrap(ret_fault, "terminated");
	}
	struct gpu_identity *id = ARENA_NEW(arena, struct gpu_identity);
	/* A message that cannot be read is no identity yet: the pod is watched until it times out.
	 */
	if (text_empty(message) || identity_decode(message, id, NULL) < 0) {
		return 0;
	}
	pod->identity = id;
	return 0;
}

/* The last word of a probe. One that cannot be read says nothing. */
static int read_sight(const struct container_status *s, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	const char *message = NULL;
	if (!exited_well(s->terminated)) {
		return 0;
	}
	if (decode_text(s->terminated, "message", &message, ret_fault) < 0) {
		return fault_wrap(ret_fault, "terminated");
	}
	struct inject_sight *sight = ARENA_NEW(arena, struct inject_sight);
	if (!text_empty(message) && inject_sight_decode(message, arena, sight, NULL) == 0) {
		pod->sight = sight;
	}
	return 0;
}

/* Every container waits like this before its first start. */
static bool is_normal_wait(const char *reason)
{
	return text_empty(reason) || strcmp(reason, "ContainerCreating") == 0 ||
	       strcmp(reason, "PodInitializing") == 0;
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

static int read_trouble(const struct container_status *s, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	const char *reason = NULL;
	if (pod->trouble != NULL) {
		return 0;
	}
	if (decode_text(s->waiting, "reason", &reason, ret_fault) < 0) {
		return fault_wrap(ret_fault, "state.waiting");
	}
	if (!is_normal_wait(reason)) {
		pod->trouble = arena_strdup(arena, reason);
		explain_trouble(s, arena, pod);
		return 0;
	}
	if (s->terminated == NULL || exited_well(s->terminated)) {
		return 0;
	}
	if (decode_text(s->terminated, "reason", &reason, ret_fault) < 0) {
		return fault_wrap(ret_fault, "state.terminated");
	}
	pod->trouble = text_empty(reason) ? "Error" : arena_strdup(arena, reason);
	explain_trouble(s, arena, pod);
	return 0;
}

static int read_one(const json_t *object, bool init, struct arena *arena, struct pod *pod,
	struct fault *ret_fault)
{
	struct container_status s = {0};
	if (read_container_status(object, &s, ret_fault) < 0 ||
		read_trouble(&s, arena, pod, ret_fault) < 0) {
		return -1;
	}
	pod_oom_note(s.terminated, pod);
	pod_oom_note(s.before, pod);
	if (!init && text_equals(s.name, pod->gpu_container)) {
		pod_oom_failed(s.terminated, pod);
		pod_oom_failed(s.before, pod);
	}
	pod->restarts += s.restarts > 0 ? (uint32_t)s.restarts : 0;
	if (init && text_equals(s.name, CAPACITY_INIT_CONTAINER)) {
		return read_identity(&s, arena, pod, ret_fault);
	}
	if (!init && text_equals(s.name, CAPACITY_MAIN_CONTAINER)) {
		pod->holds = s.ready && s.running != NULL;
	}
	if (!init && text_equals(s.name, PROBE_CONTAINER) && pod_is_probe(pod)) {
		return read_sight(&s, arena, pod, ret_fault);
	}
	return 0;
}

static int read_containers(const json_t *status, const char *list, struct arena *arena,
	struct pod *pod, struct fault *ret_fault)
{
	const json_t *array = NULL;
	if (decode_array(status, list, &array, ret_fault) < 0) {
		return -1;
	}
	bool init = list[0] == 'i';
	for (size_t i = 0; array != NULL && i < json_array_size(array); i++) {
		if (read_one(json_array_get(array, i), init, arena, pod, ret_fault) < 0) {
			return fault_wrap(ret_fault, "%s[%zu]", list, i);
		}
	}
	return 0;
}

static const struct decode_field top_fields[] = {
	{"reason", DECODE_TEXT, false, offsetof(struct pod, status_reason), NULL},
};

int pod_status_decode(
	const json_t *status, struct arena *arena, struct pod *pod, struct fault *ret_fault)
{
	const char *phase = NULL;
	const char *qos = NULL;
	const json_t *conditions = NULL;
	if (status == NULL) {
		return 0;
	}
	if (decode_fields(status, top_fields, COUNT_OF(top_fields), arena, pod, ret_fault) < 0 ||
		decode_text(status, "phase", &phase, ret_fault) < 0 ||
		decode_text(status, "qosClass", &qos, ret_fault) < 0 ||
		decode_array(status, "conditions", &conditions, ret_fault) < 0) {
		return -1;
	}
	pod->phase = phase_of(phase);
	pod->best_effort = qos != NULL ? strcmp(qos, "BestEffort") == 0 : pod->best_effort;
	for (size_t i = 0; conditions != NULL && i < json_array_size(conditions); i++) {
		if (read_condition(json_array_get(conditions, i), arena, pod, ret_fault) < 0) {
			return fault_wrap(ret_fault, "conditions[%zu]", i);
		}
	}
	if (read_containers(status, "initContainerStatuses", arena, pod, ret_fault) < 0) {
		return -1;
	}
	return read_containers(status, "containerStatuses", arena, pod, ret_fault);
}
