/* The in-flight table. An action waits in a queue, becomes a request or two, and ends as an
 * outcome.
 *
 *     submit ──▶ queue ──▶ (read live pods) ──▶ write ──▶ (read back what was there) ──▶ outcome
 *        └───────────────────────── refused ───────────────────────────────────────────────▲ */
#include "act/act.h"

#include <stdlib.h>

#include "action_draft.h"
#include "action_report.h"
#include "base/alloc.h"
#include "base/log.h"
#include "capacity_draft.h"
#include "pods/pod_decode.h"
#include "grant_draft.h"
#include "job_list.h"
#include "json/decode.h"
#include "make.h"
#include "model/names.h"
#include "placement_draft.h"
#include "read.h"
#include "sizer_draft.h"
#include "surge_course.h"

#define TOKEN_MS (1000 / ACT_CONDITIONS_PER_SECOND)

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
	act_settings_init(&a->settings, config);
	a->events = *events;
	a->data = data;
	job_list_init(&a->queue);
	job_list_init(&a->conditions);
	job_list_init(&a->in_flight);
	job_list_init(&a->over);
	a->tokens_ms = 1000;
	a->filled_ms = clock_mono(kube_clock(kube));
	return a;
}

void act_destroy(struct act *a)
{
	if (a == NULL) {
		return;
	}
	job_list_finish(&a->queue, a->kube);
	job_list_finish(&a->conditions, a->kube);
	job_list_finish(&a->in_flight, a->kube);
	job_list_finish(&a->over, a->kube);
	act_settings_finish(&a->settings);
	free(a);
}

void act_set_image(struct act *a, const char *image)
{
	free(a->settings.image);
	a->settings.image = xstrdup(image);
}

void act_set_owner(struct act *a, const char *owner_uid)
{
	free(a->settings.owner_uid);
	a->settings.owner_uid = xstrdup(owner_uid);
}

/* --- outcomes --- */

/* The last thing that happens to a job; it must be in no list. */
static void end_job(struct job *j, const struct fault *fault, const struct pod *pod)
{
	struct act *a = j->act;
	struct outcome outcome = {.fault = *fault,
		.pod = pod,
		.spares = j->sight.spares,
		.standing = j->sight.standing,
		.found = j->sight.found,
		.exists = j->sight.exists,
		.seen = surge_course_seen(j->surge)};
	action_count(kube_metrics(a->kube), &j->action, fault);
	if (fault->kind == FAULT_NONE) {
		log_debug("done", LOG_S("action", action_name(&j->action)),
			LOG_S("ns", j->action.ns), LOG_S("name", j->action.name));
	}
	if (fault->kind == FAULT_NONE && j->action.type == ACTION_EVICT) {
		evict_note(kube_metrics(a->kube), &j->action);
	}
	a->news = true;
	a->events.on_outcome(a->data, &j->action, &outcome);
	job_destroy(j);
}

static void refuse_job(struct act *a, struct job *j, enum fault_kind kind, const char *why)
{
	fault_set(&j->fault, kind, "%s", why);
	j->stage = JOB_OVER;
	job_list_push(&a->over, j);
	a->news = true;
}

/* How long a write that is sent now may take. */
static int64_t write_time_left(const struct act *a)
{
	int64_t left = a->events.write_ms == NULL ? ACT_TIMEOUT_MS : a->events.write_ms(a->data);
	return time_min(left, ACT_TIMEOUT_MS);
}

static bool may_write(const struct act *a)
{
	return write_time_left(a) > 0;
}

static int64_t term_of(const struct act *a)
{
	return a->events.term == NULL ? 0 : a->events.term(a->data);
}

/* --- answers --- */

static void on_job_answer(void *data, const struct kube_answer *answer);

static void conclude_sent(struct job *j, const struct fault *fault, const struct pod *pod)
{
	job_list_remove(&j->act->in_flight, j);
	end_job(j, fault, pod);
}

static void request_pod(struct job *j, enum job_stage stage, const char *ns, const char *name)
{
	struct kube_path path = {.group_version = "v1", .ns = ns, .resource = "pods", .name = name};
	j->stage = stage;
	j->call = kube_get(j->act->kube, &path, on_job_answer, j);
}

static void read_object(struct job *j, enum job_stage stage)
{
	request_pod(j, stage, j->action.ns, j->action.name);
}

/* The object in an answer. NULL is no failure: the write happened, and the watch will show the
 * object. Of a placement nobody wants to see it, and in a burst those are most of the answers. Of
 * words it is wanted where a placement is to follow, and not where it is more than usual. */
static const struct pod *answer_pod(
	struct job *j, const struct kube_answer *answer, struct pod *storage)
{
	struct fault fault = {0};
	enum action_type type = j->action.type;
	bool precedes = type == ACTION_CONDITION && j->action.reason == REASON_GRANTING &&
			answer->body_size <= WORD_ANSWER_MAX;
	if (type != ACTION_CREATE_CAPACITY && type != ACTION_GRANT && !precedes) {
		return NULL;
	}
	if (pod_decode(answer->body, answer->body_size, &j->arena, storage, &fault) != 0) {
		log_warn("cannot read the pod in an answer", LOG_S("name", j->action.name),
			LOG_F(&fault));
		return NULL;
	}
	return storage;
}

static void write_made(struct job *j);
static void read_only(struct job *j);

static void write_answered(struct job *j, const struct kube_answer *answer)
{
	struct pod storage;
	struct fault fault = answer->fault;
	confirm_uid(&j->action, &fault);
	bool removes = j->action.type == ACTION_DELETE_CAPACITY ||
		       j->action.type == ACTION_DELETE_RECOMMENDATION;
	if (fault.kind == FAULT_NOT_FOUND && removes) {
		fault = (struct fault){0};
	}
	bool saves = j->action.type == ACTION_CHECKPOINT && j->action.makes;
	if (saves && (fault.kind == FAULT_NONE || fault.kind == FAULT_CONFLICT)) {
		(fault.kind == FAULT_NONE ? write_made : read_only)(j);
		return;
	}
	if (fault.kind == FAULT_CONFLICT && j->action.type == ACTION_CREATE_CAPACITY) {
		/* Perhaps it is the one that an earlier attempt of unknown fate made. */
		j->fault = fault;
		read_object(j, JOB_READING_BACK);
		return;
	}
	const struct pod *pod =
		answer->fault.kind == FAULT_NONE ? answer_pod(j, answer, &storage) : NULL;
	conclude_sent(j, &fault, pod);
}

static void read_back_answered(struct job *j, const struct kube_answer *answer)
{
	struct pod storage;
	const struct fault none = {0};
	const struct pod *pod =
		answer->fault.kind == FAULT_NONE ? answer_pod(j, answer, &storage) : NULL;
	if (pod != NULL && create_capacity_is_ours(&j->act->settings, pod)) {
		conclude_sent(j, &none, pod);
		return;
	}
	conclude_sent(j, &j->fault, NULL);
}

static void send_write(struct job *j, struct draft *draft)
{
	/* Time has passed since it was asked whether to send at all; none means the default. */
	int64_t left = write_time_left(j->act);
	struct kube_write write = {
		.method = draft->method,
		.path = draft->path,
		.content_type = draft->content_type,
		.body = str_text(&draft->body),
		.body_size = draft->body.len,
		.options = draft->options,
		.timeout_ms = left > 0 ? left : 1,
	};
	j->stage = JOB_WRITING;
	j->call = kube_put(j->act->kube, &write, on_job_answer, j);
}

/* It is there now: what it should say. */
static void write_made(struct job *j)
{
	struct draft draft = {.body = STR_INIT(DRAFT_BODY_MAX)};
	struct fault fault = {0};
	j->action.makes = false;
	if (!may_write(j->act)) {
		fault_set(&fault, FAULT_DENIED, "not leading");
	}
	if (fault.kind != FAULT_NONE || checkpoint_draft(&j->action, &draft, &fault) != 0) {
		conclude_sent(j, &fault, NULL);
	} else {
		send_write(j, &draft);
	}
	str_finish(&draft.body);
}

static void live_answered(struct job *j, const struct kube_answer *answer)
{
	CLEANUP(decode_release) json_t *live = NULL;
	CLEANUP(str_finish) struct str body = STR_INIT(DRAFT_BODY_MAX);
	struct draft draft = {.body = body};
	struct fault fault = answer->fault;
	if (fault.kind == FAULT_NONE && !may_write(j->act)) {
		fault_set(&fault, FAULT_DENIED, "not leading");
	}
	if (fault.kind != FAULT_NONE ||
		decode_parse(answer->body, answer->body_size, DECODE_MEND, &live, &fault) != 0 ||
		place_draft(&j->action, live, term_of(j->act), &draft, &fault) != 0) {
		str_finish(&draft.body);
		conclude_sent(j, &fault, NULL);
		return;
	}
	send_write(j, &draft);
	str_finish(&draft.body);
}

/* The next one that is struck out, or the write. */
static void confirm_next(struct job *j)
{
	const struct ledger *still = &j->action.still;
	if (j->confirmed < still->count) {
		const struct grant *g = &still->items[j->confirmed];
		request_pod(j, JOB_CONFIRMING, g->ns, g->name);
		return;
	}
	struct draft draft = {.body = STR_INIT(DRAFT_BODY_MAX)};
	struct fault fault = {0};
	if (!may_write(j->act)) {
		fault_set(&fault, FAULT_DENIED, "not leading");
	}
	if (fault.kind != FAULT_NONE ||
		grant_draft(&j->action, term_of(j->act), &draft, &fault) != 0) {
		conclude_sent(j, &fault, NULL);
	} else {
		send_write(j, &draft);
	}
	str_finish(&draft.body);
}

static void confirm_answered(struct job *j, const struct kube_answer *answer)
{
	struct fault fault = {0};
	if (!confirm_waits(answer, j->action.still.items[j->confirmed].uid, &fault)) {
		conclude_sent(j, &fault, NULL);
		return;
	}
	j->confirmed++;
	confirm_next(j);
}

static void request_owner(struct job *j)
{
	struct kube_path path = recommendation_owner_path(&j->action, &j->arena);
	j->stage = JOB_READING_OWNER;
	j->call = kube_get(j->act->kube, &path, on_job_answer, j);
}

static void owner_answered(struct job *j, const struct kube_answer *answer)
{
	struct draft draft = {.body = STR_INIT(DRAFT_BODY_MAX)};
	struct fault fault = {0};
	if (!may_write(j->act)) {
		fault_set(&fault, FAULT_DENIED, "not leading");
	}
	if (fault.kind != FAULT_NONE ||
		recommendation_owner_read(&j->action, answer, &j->arena, &fault) != 0 ||
		create_recommendation_draft(&j->action, &draft, &fault) != 0) {
		conclude_sent(j, &fault, NULL);
	} else {
		send_write(j, &draft);
	}
	str_finish(&draft.body);
}

static void read_only(struct job *j)
{
	struct kube_path path = read_path(&j->action, &j->arena);
	j->stage = JOB_READING_ONLY;
	j->call = kube_get(j->act->kube, &path, on_job_answer, j);
}

static void read_answered(struct job *j, const struct kube_answer *answer)
{
	struct fault fault = {0};
	read_take(&j->action, answer, &j->arena, &j->sight, &fault);
	conclude_sent(j, &fault, NULL);
}

/* The next request of it, or its end. */
static void continue_surge(struct job *j, const struct kube_answer *answer)
{
	j->stage = JOB_SURGING;
	if (!surge_course_go(j, answer, j->act->kube, write_time_left(j->act), on_job_answer)) {
		conclude_sent(j, &j->fault, NULL);
	}
}

static void on_job_answer(void *data, const struct kube_answer *answer)
{
	struct job *j = data;
	j->call = 0;
	switch (j->stage) {
	case JOB_CONFIRMING:
		confirm_answered(j, answer);
		return;
	case JOB_READING:
		live_answered(j, answer);
		return;
	case JOB_WRITING:
		write_answered(j, answer);
		return;
	case JOB_READING_BACK:
		read_back_answered(j, answer);
		return;
	case JOB_READING_OWNER:
		owner_answered(j, answer);
		return;
	case JOB_READING_ONLY:
		read_answered(j, answer);
		return;
	case JOB_SURGING:
		continue_surge(j, answer);
		return;
	case JOB_QUEUED:
	case JOB_OVER:
		break;
	}
	BUG("an answer to a job that asked nothing");
}

/* --- sending --- */

/* Out of its queue and on its way, or over. */
static void start_job(struct act *a, struct job_list *from, struct job *j)
{
	job_list_remove(from, j);
	if (!may_write(a)) {
		refuse_job(a, j, FAULT_DENIED, "not leading");
		return;
	}
	if (j->action.type == ACTION_PLACE && j->action.node_term_count > 0) {
		job_list_push(&a->in_flight, j);
		read_object(j, JOB_READING);
		return;
	}
	if (j->action.type == ACTION_GRANT && j->action.still.count > 0) {
		job_list_push(&a->in_flight, j);
		confirm_next(j);
		return;
	}
	if (recommendation_reads_owner(&j->action)) {
		job_list_push(&a->in_flight, j);
		request_owner(j);
		return;
	}
	if (read_is_all(&j->action)) {
		job_list_push(&a->in_flight, j);
		read_only(j);
		return;
	}
	if (surge_is_course(&j->action)) {
		job_list_push(&a->in_flight, j);
		j->surge = surge_course_create(&j->action, clock_wall(kube_clock(a->kube)));
		continue_surge(j, NULL);
		return;
	}
	struct draft draft = {.body = STR_INIT(DRAFT_BODY_MAX)};
	const struct draft_stamp now = {term_of(a), clock_wall(kube_clock(a->kube))};
	if (action_draft(&a->settings, &j->action, &now, &draft, &j->fault) != 0) {
		j->stage = JOB_OVER;
		job_list_push(&a->over, j);
	} else {
		job_list_push(&a->in_flight, j);
		send_write(j, &draft);
	}
	str_finish(&draft.body);
}

static void start_writes(struct act *a)
{
	struct job *next;
	for (struct job *j = a->queue.head; j != NULL && a->in_flight.count < ACT_IN_FLIGHT_MAX;
		j = next) {
		next = j->next;
		/* Two writes to one object at a time could overtake each other. */
		if (!job_list_names(&a->in_flight, &j->action)) {
			start_job(a, &a->queue, j);
		}
	}
}

static void start_conditions(struct act *a, int64_t now)
{
	a->tokens_ms += now - a->filled_ms;
	a->tokens_ms = a->tokens_ms < 1000 ? a->tokens_ms : 1000;
	a->filled_ms = now;
	struct job *next;
	for (struct job *j = a->conditions.head; j != NULL; j = next) {
		next = j->next;
		if (a->tokens_ms < TOKEN_MS || a->in_flight.count >= ACT_IN_FLIGHT_MAX) {
			return;
		}
		if (!job_list_names(&a->in_flight, &j->action)) {
			a->tokens_ms -= TOKEN_MS;
			start_job(a, &a->conditions, j);
		}
	}
}

static void report_ended_jobs(struct act *a)
{
	/* What the receiver submits meanwhile waits for the next step. */
	for (size_t left = a->over.count; left > 0; left--) {
		struct job *j = a->over.head;
		job_list_remove(&a->over, j);
		end_job(j, &j->fault, NULL);
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
static void supersede(
	struct act *a, struct job_list *list, enum action_type older, const struct action *newer)
{
	struct job *next;
	for (struct job *j = list->head; j != NULL; j = next) {
		next = j->next;
		if (j->action.type == older && action_same_object(&j->action, newer) &&
			text_equals(j->action.condition, newer->condition)) {
			job_list_remove(list, j);
			refuse_job(
				a, j, FAULT_CONFLICT, "a newer action took its place in the queue");
		}
	}
}

bool act_is_busy(const struct act *a)
{
	return a->queue.count >= ACT_IN_FLIGHT_MAX;
}

void act_submit(struct act *a, const struct action *action)
{
	struct job *j = xcalloc(1, sizeof *j);
	j->act = a;
	action_copy(&j->arena, action, &j->action);
	bool ours = action->type == ACTION_CREATE_CAPACITY ||
		    action->type == ACTION_DELETE_CAPACITY || action->type == ACTION_GRANT;
	if (ours && text_empty(j->action.ns)) {
		j->action.ns = a->settings.ns;
	}
	a->news = true;
	if (!may_write(a)) {
		refuse_job(a, j, FAULT_DENIED, "not leading");
		return;
	}
	if (action->type == ACTION_EVENT && !action->warning && act_is_busy(a)) {
		/* It would take the place of a write that somebody waits for. */
		refuse_job(a, j, FAULT_LIMIT, "no events while so many writes wait");
		return;
	}
	if (action->type == ACTION_EVENT) {
		bool taken = event_hand_over(a->recorder, &j->action);
		refuse_job(a, j, taken ? FAULT_NONE : FAULT_LIMIT, taken ? "" : "too many events");
		return;
	}
	struct job_list *list = action->type == ACTION_CONDITION ? &a->conditions : &a->queue;
	supersede(a, list, action->type, &j->action);
	if (action->type == ACTION_PLACE) {
		/* Why it waits need not be told any more, and to write it would fail this. */
		supersede(a, &a->conditions, ACTION_CONDITION, &j->action);
	}
	if (list->count >= ACT_QUEUE_MAX) {
		refuse_job(a, j, FAULT_LIMIT, "too many writes are waiting");
		return;
	}
	job_list_push(list, j);
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
