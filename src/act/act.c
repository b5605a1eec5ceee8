/* The in-flight table. An action waits in a queue, becomes a request or two, and ends as an
 * outcome.
 *
 *     submit ──▶ queue ──▶ (read live pods) ──▶ write ──▶ (read back what was there) ──▶ outcome
 *        └───────────────────────── refused ───────────────────────────────────────────────▲ */
#include "act/act.h"

#include <stdlib.h>

#include "action_draft.h"
#include "base/log.h"
#include "base/number.h"
#include "capacity_draft.h"
#include "job_list.h"
#include "json/decode.h"
#include "model/names.h"
#include "pods/pod_decode.h"
#include "read.h"
#include "sizer_draft.h"
#include "surge_draft.h"

#define TOKEN_MS (1000 / ACT_CONDITIONS_PER_SECOND)
/* The answer to a condition, if it is to be read. */
#define WORD_ANSWER_MAX ((size_t)256 * 1024)

struct act {
	struct kube *kube;	 /* borrowed */
	struct events *recorder; /* borrowed; may be NULL */
	struct act_settings settings;
	struct act_events events;
	void *data;
	struct job_list queue;	    /* but conditions */
	struct job_list conditions; /* wait for tokens */
	struct job_list in_flight;
	struct job_list over; /* refused before anything was sent */
	int64_t tokens_ms, filled_ms;
	bool news; /* something may be startable */
};

/* --- lifecycle --- */

struct act *act_create(struct kube *kube, struct events *recorder, const struct act_config *config,
	const struct act_events *events, void *data)
{
	struct act *a = xcalloc(1, sizeof *a);
	a->kube = kube;
	a->recorder = recorder;
	a->settings = (struct act_settings){.image = xstrdup(config->image),
		.pull_policy = xstrdup(config->pull_policy),
		.owner_uid = xstrdup(config->owner_uid)};
	a->events = *events;
	a->data = data;
	a->tokens_ms = 1000;
	a->filled_ms = clock_mono(kube_clock(kube));
	return a;
}

void act_destroy(struct act *a)
{
	if (a == NULL) {
		return;
	}
	job_list_finish(&a->queue);
	job_list_finish(&a->conditions);
	job_list_finish(&a->in_flight);
	job_list_finish(&a->over);
	free(a->settings.image);
	free(a->settings.pull_policy);
	free(a->settings.owner_uid);
	free(a);
}

void act_set_image(struct act *a, const char *image)
{
	text_set(&a->settings.image, image);
}

void act_set_owner(struct act *a, const char *owner_uid)
{
	text_set(&a->settings.owner_uid, owner_uid);
}

/* --- outcomes --- */

static void count_outcome(const struct job *j)
{
	struct metric_registry *metrics = kube_metrics(j->kube);
	const struct fault *f = &j->outcome.fault;
	CLEANUP(str_finish) struct str labels = STR_INIT(128);
	if (metrics == NULL) {
		return;
	}
	metric_label(&labels, "action", action_name(&j->action));
	metric_label(&labels, "outcome", f->unknown_outcome ? "unknown" : fault_kind_name(f->kind));
	metric_add(metric_get(metrics, METRIC_COUNTER, "aliquot_actions_total",
			   "Actions that ended, by type and outcome.", str_text(&labels)),
		1);
	if (j->action.type == ACTION_EVICT && f->kind == FAULT_NONE) {
		str_reset(&labels);
		metric_label(&labels, "reason", reason_name(j->action.reason));
		metric_add(metric_get(metrics, METRIC_COUNTER, "aliquot_evictions_total",
				   "Tenants evicted, by reason.", str_text(&labels)),
			1);
	}
}

/* The last thing that happens to a job; it must be in no list. */
static void end_job(struct job *j)
{
	struct act *a = j->act;
	const struct action *x = &j->action;
	count_outcome(j);
	if (j->outcome.fault.kind == FAULT_NONE) {
		log_debug("done", LOG_S("action", action_name(x)), LOG_S("ns", x->ns),
			LOG_S("name", x->name));
	}
	if (j->outcome.fault.kind == FAULT_NONE && x->type == ACTION_EVICT) {
		log_info("evicted a tenant", LOG_S("ns", x->ns), LOG_S("name", x->name),
			LOG_S("reason", reason_name(x->reason)), LOG_S("why", x->message));
	}
	a->news = true;
	a->events.on_outcome(a->data, x, &j->outcome);
	job_destroy(j);
}

static void end_sent(struct job *j)
{
	job_list_remove(&j->act->in_flight, j);
	end_job(j);
}

static void refuse_job(struct job *j, enum fault_kind kind, const char *why)
{
	fault_set(&j->outcome.fault, kind, "%s", why);
	VEC_PUSH(&j->act->over, j);
	j->act->news = true;
}

/* How long a write that is sent now may take. */
static int64_t write_time_left(const struct act *a)
{
	int64_t left = a->events.write_ms == NULL ? ACT_TIMEOUT_MS : a->events.write_ms(a->data);
	return time_min(left, ACT_TIMEOUT_MS);
}

/* --- requests --- */

static void on_job_answer(void *data, const struct kube_answer *answer)
{
	struct job *j = data;
	j->call = 0;
	j->answered(j, answer);
}

/* Reads an object; its answer goes there. */
static void read_then(struct job *j, const struct kube_path *path,
	void (*answered)(struct job *j, const struct kube_answer *answer))
{
	j->answered = answered;
	j->call = kube_get(j->kube, path, on_job_answer, j);
}

static void write_answered(struct job *j, const struct kube_answer *answer);

/* Drafts the write of the job and sends it. `live`: as in struct draft. */
static int send_write(struct job *j, const json_t *live)
{
	const struct act *a = j->act;
	struct draft draft = {.settings = &a->settings,
		.term = a->events.term == NULL ? 0 : a->events.term(a->data),
		.wall_ms = clock_wall(kube_clock(a->kube)),
		.live = live,
		.body = STR_INIT(DRAFT_BODY_MAX)};
	int rc = action_draft(&j->action, &draft, &j->outcome.fault);
	if (rc == 0) {
		/* Time has passed since it was asked whether to send at all; none means the
		 * default. */
		int64_t left = write_time_left(a);
		j->answered = write_answered;
		j->call = draft_send(&draft, a->kube, left > 0 ? left : 1, on_job_answer, j);
	}
	str_finish(&draft.body);
	return rc;
}

/* May a write follow? Nothing went wrong so far, and we still lead. */
static bool may_write_on(struct job *j)
{
	struct fault *f = &j->outcome.fault;
	if (f->kind == FAULT_NONE && write_time_left(j->act) <= 0) {
		fault_set(f, FAULT_DENIED, "not leading");
	}
	return f->kind == FAULT_NONE;
}

/* After what had to be read: the write, or the end. */
static void go_on_writing(struct job *j, const json_t *live)
{
	if (!may_write_on(j) || send_write(j, live) != 0) {
		end_sent(j);
	}
}

/* --- answers --- */

/* The object in an answer. None is no failure: the write happened, and the watch will show the
 * object. Of a placement nobody wants to see it, and in a burst those are most of the answers. Of
 * words it is wanted where a placement is to follow, and not where it is more than usual. */
static void take_answered_pod(struct job *j, const struct kube_answer *answer)
{
	struct fault fault = {0};
	enum action_type type = j->action.type;
	bool precedes = type == ACTION_CONDITION && j->action.reason == REASON_GRANTING &&
			answer->body_size <= WORD_ANSWER_MAX;
	if (answer->fault.kind != FAULT_NONE ||
		(type != ACTION_CREATE_CAPACITY && type != ACTION_GRANT && !precedes)) {
		return;
	}
	struct pod *pod = ARENA_NEW(&j->arena, struct pod);
	if (pod_decode(answer->body, answer->body_size, &j->arena, pod, &fault) == 0) {
		j->outcome.pod = pod;
	} else {
		log_warn("cannot read the pod in an answer", LOG_S("name", j->action.name),
			LOG_F(&fault));
	}
}

/* A capacity pod of that name was there already. */
static void read_back_answered(struct job *j, const struct kube_answer *answer)
{
	take_answered_pod(j, answer);
	if (j->outcome.pod != NULL && create_capacity_is_ours(&j->act->settings, j->outcome.pod)) {
		j->outcome.fault = (struct fault){0};
	} else {
		j->outcome.pod = NULL;
	}
	end_sent(j);
}

/* The answer to an action that only reads. */
static void read_answered(struct job *j, const struct kube_answer *answer)
{
	read_take(&j->action, answer, &j->arena, &j->outcome);
	end_sent(j);
}

static void read_only(struct job *j)
{
	const struct kube_path path = read_path(&j->action, &j->arena);
	read_then(j, &path, read_answered);
}

static void write_answered(struct job *j, const struct kube_answer *answer)
{
	enum action_type type = j->action.type;
	struct fault *f = &j->outcome.fault;
	*f = answer->fault;
	confirm_uid(&j->action, f);
	bool removes = type == ACTION_DELETE_CAPACITY || type == ACTION_DELETE_RECOMMENDATION;
	if (f->kind == FAULT_NOT_FOUND && removes) {
		*f = (struct fault){0};
	}
	bool makes = type == ACTION_CHECKPOINT && j->action.makes;
	if (makes && f->kind == FAULT_NONE) {
		/* The checkpoint is there now: what it should say. */
		j->action.makes = false;
		go_on_writing(j, NULL);
	} else if (makes && f->kind == FAULT_CONFLICT) {
		read_only(j);
	} else if (type == ACTION_CREATE_CAPACITY && f->kind == FAULT_CONFLICT) {
		/* The one that is there may be what an earlier attempt of unknown fate made. */
		const struct kube_path path = draft_pod_path(&j->action, NULL);
		read_then(j, &path, read_back_answered);
	} else {
		take_answered_pod(j, answer);
		end_sent(j);
	}
}

/* A tenant with affinity of its own was read, before its placement. */
static void live_answered(struct job *j, const struct kube_answer *answer)
{
	CLEANUP(decode_release) json_t *live = NULL;
	struct fault *f = &j->outcome.fault;
	*f = answer->fault;
	if (!may_write_on(j) ||
		decode_parse(answer->body, answer->body_size, DECODE_MEND, &live, f) != 0) {
		end_sent(j);
		return;
	}
	go_on_writing(j, live);
}

static void confirm_answered(struct job *j, const struct kube_answer *answer);

/* The next one that is struck out is read, whether it still waits; or the write. */
static void confirm_next(struct job *j)
{
	if (j->confirmed == j->action.still.count) {
		go_on_writing(j, NULL);
		return;
	}
	const struct grant *g = &j->action.still.items[j->confirmed];
	const struct kube_path path = {
		.group_version = "v1", .ns = g->ns, .resource = "pods", .name = g->name};
	read_then(j, &path, confirm_answered);
}

static void confirm_answered(struct job *j, const struct kube_answer *answer)
{
	const struct grant *g = &j->action.still.items[j->confirmed];
	if (!confirm_waits(answer, g->uid, &j->outcome.fault)) {
		end_sent(j);
		return;
	}
	j->confirmed++;
	confirm_next(j);
}

/* The owner of a GPURecommendation was read, before it is made. */
static void owner_answered(struct job *j, const struct kube_answer *answer)
{
	struct fault *f = &j->outcome.fault;
	if (!may_write_on(j) || recommendation_owner_read(&j->action, answer, &j->arena, f) != 0) {
		end_sent(j);
		return;
	}
	go_on_writing(j, NULL);
}

/* A surge's next request, or its end. */
static void continue_surge(struct job *j, const struct kube_answer *answer)
{
	j->answered = continue_surge;
	if (!surge_course_go(j, answer, write_time_left(j->act), on_job_answer)) {
		end_sent(j);
	}
}

/* --- sending --- */

/* The job leaves its queue and is on its way, or over. */
static void start_job(struct act *a, struct job_list *from, struct job *j)
{
	const struct action *x = &j->action;
	job_list_remove(from, j);
	if (!may_write_on(j)) {
		VEC_PUSH(&a->over, j);
		a->news = true;
		return;
	}
	VEC_PUSH(&a->in_flight, j);
	if (x->type == ACTION_PLACE && x->node_term_count > 0) {
		const struct kube_path path = draft_pod_path(x, NULL);
		read_then(j, &path, live_answered);
	} else if (x->type == ACTION_GRANT && x->still.count > 0) {
		confirm_next(j);
	} else if (recommendation_reads_owner(x)) {
		const struct kube_path path = recommendation_owner_path(x, &j->arena);
		read_then(j, &path, owner_answered);
	} else if (read_is_all(x)) {
		read_only(j);
	} else if (surge_is_course(x)) {
		j->surge = surge_course_create(x, clock_wall(kube_clock(a->kube)));
		continue_surge(j, NULL);
	} else if (send_write(j, NULL) != 0) {
		job_list_remove(&a->in_flight, j);
		VEC_PUSH(&a->over, j);
	}
}

static void start_writes(struct act *a)
{
	for (size_t i = 0; i < a->queue.count && a->in_flight.count < ACT_IN_FLIGHT_MAX;) {
		struct job *j = a->queue.items[i];
		/* Two writes to one object at a time could overtake each other. */
		if (job_list_names(&a->in_flight, &j->action)) {
			i++;
		} else {
			start_job(a, &a->queue, j);
		}
	}
}

static void start_conditions(struct act *a, int64_t now)
{
	a->tokens_ms = smaller_of(a->tokens_ms + now - a->filled_ms, 1000);
	a->filled_ms = now;
	for (size_t i = 0; i < a->conditions.count && a->tokens_ms >= TOKEN_MS &&
			   a->in_flight.count < ACT_IN_FLIGHT_MAX;) {
		struct job *j = a->conditions.items[i];
		if (job_list_names(&a->in_flight, &j->action)) {
			i++;
		} else {
			a->tokens_ms -= TOKEN_MS;
			start_job(a, &a->conditions, j);
		}
	}
}

static void report_ended_jobs(struct act *a)
{
	/* What the receiver submits meanwhile waits for the next step. */
	for (size_t left = a->over.count; left > 0; left--) {
		struct job *j = a->over.items[0];
		job_list_remove(&a->over, j);
		end_job(j);
	}
}

void act_step(struct act *a, int64_t now_mono_ms)
{
	a->news = false;
	start_writes(a);
	start_conditions(a, now_mono_ms);
	report_ended_jobs(a);
}

int64_t act_deadline(const struct act *a)
{
	if (a->news || a->over.count > 0) {
		return 0;
	}
	/* Held jobs and a full table wait for an answer, which is news. */
	if (a->conditions.count > 0 && a->in_flight.count < ACT_IN_FLIGHT_MAX &&
		a->tokens_ms < TOKEN_MS) {
		return a->filled_ms + TOKEN_MS - a->tokens_ms;
	}
	return TIME_NEVER;
}

/* --- submitting --- */

/* A newer word about the same thing: the older one need not be said any more. */
static void supersede(struct job_list *list, enum action_type older, const struct action *newer)
{
	for (size_t i = 0; i < list->count;) {
		struct job *j = list->items[i];
		if (j->action.type == older && action_same_object(&j->action, newer) &&
			text_equals(j->action.condition, newer->condition)) {
			job_list_remove(list, j);
			refuse_job(j, FAULT_CONFLICT, "a newer action took its place in the queue");
		} else {
			i++;
		}
	}
}

bool act_is_busy(const struct act *a)
{
	return a->queue.count >= ACT_IN_FLIGHT_MAX;
}

static bool hand_over_event(struct events *recorder, const struct action *x)
{
	const struct event_note note = {
		.api_version =
			text_empty(x->regarding_api_version) ? "v1" : x->regarding_api_version,
		.kind = text_empty(x->regarding_kind) ? "Pod" : x->regarding_kind,
		.ns = text_or(x->ns, ""),
		.name = text_or(x->name, ""),
		.uid = text_or(x->uid, ""),
		.reason = text_empty(x->event_reason) ? reason_name(x->reason) : x->event_reason,
		.note = text_or(x->message, ""),
		.warning = x->warning,
	};
	return recorder != NULL && events_emit(recorder, &note);
}

void act_submit(struct act *a, const struct action *action)
{
	struct job *j = xcalloc(1, sizeof *j);
	j->act = a;
	j->kube = a->kube;
	action_copy(&j->arena, action, &j->action);
	bool ours = action->type == ACTION_CREATE_CAPACITY ||
		    action->type == ACTION_DELETE_CAPACITY || action->type == ACTION_GRANT;
	if (ours && text_empty(j->action.ns)) {
		j->action.ns = NAME_NAMESPACE;
	}
	a->news = true;
	if (write_time_left(a) <= 0) {
		refuse_job(j, FAULT_DENIED, "not leading");
		return;
	}
	if (action->type == ACTION_EVENT && !action->warning && act_is_busy(a)) {
		/* An event would take the place of a write that somebody waits for. */
		refuse_job(j, FAULT_LIMIT, "no events while so many writes wait");
		return;
	}
	if (action->type == ACTION_EVENT) {
		bool taken = hand_over_event(a->recorder, &j->action);
		refuse_job(j, taken ? FAULT_NONE : FAULT_LIMIT, taken ? "" : "too many events");
		return;
	}
	struct job_list *list = action->type == ACTION_CONDITION ? &a->conditions : &a->queue;
	supersede(list, action->type, &j->action);
	if (action->type == ACTION_PLACE) {
		/* Why it waits need not be told any more, and to write it would fail this. */
		supersede(&a->conditions, ACTION_CONDITION, &j->action);
	}
	if (list->count >= ACT_QUEUE_MAX) {
		refuse_job(j, FAULT_LIMIT, "too many writes are waiting");
		return;
	}
	VEC_PUSH(list, j);
}

size_t act_in_flight(const struct act *a)
{
	return a->in_flight.count;
}

size_t act_queued(const struct act *a)
{
	return a->queue.count + a->conditions.count;
}

bool act_was_fenced(const struct action *x, const struct fault *f)
{
	return (x->type == ACTION_PLACE || x->type == ACTION_RESIZE) &&
	       (f->kind == FAULT_DENIED || f->kind == FAULT_INVALID) &&
	       strstr(f->message, "'" NAME_FENCE "'") != NULL;
}
