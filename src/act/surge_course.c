/* Tasks of a surge that are more than one request. A LOOK and a READ ask for one kind after the
 * other. A CREATE reads the ReplicaSet, sends the pod as a dry run, and sends it in earnest if that
 * came back with our mark: what the webhook does not see would be whole. */
#include "surge_course.h"

#include <stdlib.h>

#include "json/decode.h"
#include "model/names.h"
#include "pods/pod_decode.h"
#include "pods/surge_objects.h"
#include "surge_draft.h"

struct surge_course {
	struct surge_look look;
	enum surge_source at; /* LOOK, READ */
	enum { CREATE_READS, CREATE_TRIES, CREATE_SENDS } stage;
	struct draft draft; /* CREATE */
};

bool surge_is_course(const struct action *x)
{
	if (x->type != ACTION_SURGE) {
		return false;
	}
	enum surge_task task = x->surge->task;
	return task == SURGE_TASK_LOOK || task == SURGE_TASK_READ || task == SURGE_TASK_CREATE;
}

struct surge_course *surge_course_create(const struct action *x, int64_t wall_ms)
{
	struct surge_course *c = xcalloc(1, sizeof *c);
	c->draft.body = (struct str)STR_INIT(DRAFT_BODY_MAX);
	surge_look_init(&c->look, x->surge, wall_ms);
	return c;
}

void surge_course_destroy(struct surge_course *c)
{
	if (c == NULL) {
		return;
	}
	surge_look_finish(&c->look);
	str_finish(&c->draft.body);
	free(c);
}

/* False: nothing of that source need be asked. */
static bool request_source(struct job *j, enum surge_source source, kube_done done)
{
	CLEANUP(str_finish) struct str path = STR_INIT(KUBE_PATH_MAX);
	const struct surge_where w = surge_where_of(&j->surge->look, source);
	const struct kube_path at = {.group_version = w.group_version,
		.ns = j->action.ns,
		.resource = w.resource,
		.name = w.name};
	if (w.resource == NULL) {
		return false;
	}
	kube_path_append(&path, &at);
	if (w.label_selector != NULL) {
		kube_query_append(&path, "labelSelector", w.label_selector);
	}
	const struct kube_request request = {
		.method = WIRE_GET, .path = path.overflow ? WIRE_NO_PATH : str_text(&path)};
	j->call = kube_call(j->kube, &request, done, j);
	return true;
}

/* --- LOOK, READ --- */

static int take_surge_answer(
	struct surge_course *c, const struct kube_answer *answer, struct fault *ret_fault)
{
	if (answer->fault.kind == FAULT_NOT_FOUND && c->at < SURGE_PODS) {
		surge_take_none(&c->look, c->at);
		return 0;
	}
	if (answer->fault.kind != FAULT_NONE) {
		fault_copy(ret_fault, &answer->fault);
		return fault_wrap(
			ret_fault, "%s cannot be read", surge_where_of(&c->look, c->at).resource);
	}
	return surge_take(&c->look, c->at, answer->body, answer->body_size, ret_fault);
}

static bool go_reading(struct job *j, const struct kube_answer *answer, kube_done done)
{
	struct surge_course *c = j->surge;
	if (answer != NULL && take_surge_answer(c, answer, &j->outcome.fault) < 0) {
		return false;
	}
	enum surge_source end =
		j->action.surge->task == SURGE_TASK_LOOK ? SURGE_SOURCES_LOOK : SURGE_SOURCES;
	c->at += answer != NULL && c->at != SURGE_CLAIMS ? 1 : 0;
	for (; c->at < end; c->at++) {
		if (request_source(j, c->at, done)) {
			return true;
		}
	}
	j->outcome.seen = &c->look.seen;
	return false;
}

/* --- CREATE --- */

static int draft_pod(struct job *j, const struct kube_answer *answer, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *set = NULL;
	if (decode_parse(answer->body, answer->body_size, DECODE_PLAIN, &set, ret_fault) < 0) {
		return fault_wrap(ret_fault, "ReplicaSet %s", j->action.surge->set_name);
	}
	return surge_create_draft(&j->action, set, &j->surge->draft, ret_fault);
}

static int check_marked(struct job *j, const struct kube_answer *answer, struct fault *ret_fault)
{
	struct pod pod;
	if (pod_decode(answer->body, answer->body_size, &j->arena, &pod, ret_fault) < 0) {
		return -1;
	}
	if (!pod_is_tenant(&pod) || !pod_has_gate(&pod, NAME_GATE)) {
		return fault_set(ret_fault, FAULT_DENIED,
			"a pod beside %s would come without a share", j->action.surge->set_name);
	}
	return 0;
}

static bool go_creating(
	struct job *j, const struct kube_answer *answer, int64_t write_ms, kube_done done)
{
	struct surge_course *c = j->surge;
	struct fault *f = &j->outcome.fault;
	if (answer == NULL) {
		return request_source(j, SURGE_SET, done);
	}
	*f = answer->fault;
	if (f->kind != FAULT_NONE || c->stage == CREATE_SENDS) {
		return false;
	}
	if (write_ms <= 0) {
		fault_set(f, FAULT_DENIED, "not leading");
		return false;
	}
	int rc = c->stage == CREATE_READS ? draft_pod(j, answer, f) : check_marked(j, answer, f);
	if (rc < 0) {
		return false;
	}
	c->stage++;
	c->draft.options = c->stage == CREATE_TRIES ? KUBE_DRY_RUN : 0;
	j->call = draft_send(&c->draft, j->kube, write_ms, done, j);
	return true;
}

bool surge_course_go(
	struct job *j, const struct kube_answer *answer, int64_t write_ms, kube_done done)
{
	return j->action.surge->task == SURGE_TASK_CREATE ? go_creating(j, answer, write_ms, done)
							  : go_reading(j, answer, done);
}
