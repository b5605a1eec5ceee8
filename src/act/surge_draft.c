/* A surge (C24, C25): each task is one write of the old or the new pod, or several requests.
 *
 * A LOOK and a READ ask for one kind after the other. A CREATE reads the ReplicaSet, sends the pod
 * as a dry run, and sends it in earnest if that came back with our mark: what the webhook does not
 * see would be whole. The new pod has the old one's template and all its labels but the one by
 * which its ReplicaSet counts its pods, and names that ReplicaSet as an owner that does not control
 * it: from birth, so that whoever prunes by owners finds one, and adoption turns that very
 * reference. */
#include "surge_draft.h"

#include <stdlib.h>

#include "json/decode.h"
#include "json/fields.h"
#include "model/names.h"
#include "pods/pod_decode.h"
#include "pods/surge_objects.h"

/* --- the new pod --- */

static void surge_metadata(
	struct build *b, const struct action *x, const json_t *template, int64_t generation)
{
	const struct surge_order *o = x->surge;
	build_object_at(b, "metadata");
	draft_name(b, x);
	build_object_at(b, "labels");
	draft_members(b, decode_find(template, "metadata.labels"),
		WORDS(LABEL_TEMPLATE_HASH, LABEL_SURGE));
	build_text_at(b, LABEL_SURGE, o->old_uid);
	build_end(b);
	build_object_at(b, "annotations");
	draft_members(b, decode_find(template, "metadata.annotations"),
		WORDS(NOTE_SURGE_HASH, NOTE_SURGE_GENERATION, NOTE_SURGED_BY));
	build_text_at(b, NOTE_SURGE_HASH, o->hash);
	draft_i64_text(b, NOTE_SURGE_GENERATION, generation);
	build_end(b);
	draft_owner(
		b, &(const struct owner){"apps/v1", "ReplicaSet", o->set_name, o->set_uid}, false);
	build_end(b);
}

/* Is the ReplicaSet the one that was judged, its pods found by the label that ours lacks? */
static int check_set(const struct surge_order *o, const json_t *set, const json_t **ret_template,
	struct fault *ret_fault)
{
	const char *uid = json_string_value(decode_find(set, "metadata.uid"));
	const json_t *selector = decode_find(set, "spec.selector.matchLabels");
	const char *hash = json_string_value(json_object_get(selector, LABEL_TEMPLATE_HASH));
	const json_t *template = decode_find(set, "spec.template");
	if (!text_equals(uid, o->set_uid) || decode_find(set, "metadata.deletionTimestamp")) {
		return fault_set(ret_fault, FAULT_CONFLICT,
			"ReplicaSet %s is not the one that was judged", o->set_name);
	}
	if (hash == NULL || !text_equals(hash, o->hash) ||
		!json_is_object(decode_find(template, "spec"))) {
		return fault_set(ret_fault, FAULT_INVALID,
			"ReplicaSet %s does not select its pods by %s=%s", o->set_name,
			LABEL_TEMPLATE_HASH, o->hash);
	}
	*ret_template = template;
	return 0;
}

/* Made of the ReplicaSet as it was just read, which must be the one of the order. */
static int new_pod_draft(const struct action *x, const struct kube_answer *answer, struct draft *d,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *set = NULL;
	const struct surge_order *o = x->surge;
	const struct kube_path path = {.group_version = "v1", .ns = x->ns, .resource = "pods"};
	const json_t *template = NULL;
	if (decode_parse(answer->body, answer->body_size, DECODE_PLAIN, &set, ret_fault) < 0) {
		return fault_wrap(ret_fault, "ReplicaSet %s", o->set_name);
	}
	if (text_empty(o->old_uid) || text_empty(o->set_uid) || text_empty(o->hash)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a surge needs the uids of the old pod and of its ReplicaSet");
	}
	if (check_set(o, set, &template, ret_fault) < 0) {
		return -1;
	}
	struct build b = draft_begin(d, WIRE_POST, KUBE_JSON, &path);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "Pod");
	surge_metadata(
		&b, x, template, json_integer_value(decode_find(set, "metadata.generation")));
	build_key(&b, "spec");
	draft_json(&b, decode_find(template, "spec"));
	return draft_end(&b, ret_fault);
}

/* --- one write --- */

int surge_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	const struct kube_path path = draft_pod_path(x, NULL);
	if (text_empty(x->uid) || text_empty(x->resource_version)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a write of a surge needs the pod's uid and resourceVersion");
	}
	if (x->surge->task == SURGE_TASK_DROP) {
		return draft_delete(x, &path, 0, d, ret_fault);
	}
	struct build b = draft_patch_pod(x, d);
	switch (x->surge->task) {
	case SURGE_TASK_LOWER_COST:
		build_object_at(&b, "annotations");
		draft_i64_text(&b, NOTE_DELETION_COST, SURGE_COST);
		build_text_at(&b, NOTE_SURGED_BY, text_or(x->surge->fresh_name, ""));
		break;
	case SURGE_TASK_RESTORE:
		build_object_at(&b, "annotations");
		build_text_at(&b, NOTE_DELETION_COST, NULL);
		build_text_at(&b, NOTE_SURGED_BY, NULL);
		break;
	case SURGE_TASK_ADOPT:
		build_object_at(&b, "labels");
		build_text_at(&b, LABEL_TEMPLATE_HASH, x->surge->hash);
		break;
	case SURGE_TASK_DROP:
	case SURGE_TASK_LOOK:
	case SURGE_TASK_READ:
	case SURGE_TASK_CREATE:
		BUG("a task of several requests");
	}
	return draft_end(&b, ret_fault);
}

/* --- several requests --- */

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

/* Asks for a source. False: nothing of it need be asked. */
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
	int rc = c->stage == CREATE_READS ? new_pod_draft(&j->action, answer, &c->draft, f)
					  : check_marked(j, answer, f);
	if (rc < 0) {
		return false;
	}
	c->stage++;
	c->draft.write.options = c->stage == CREATE_TRIES ? KUBE_DRY_RUN : 0;
	j->call = draft_send(&c->draft, j->kube, write_ms, done, j);
	return true;
}

bool surge_course_go(
	struct job *j, const struct kube_answer *answer, int64_t write_ms, kube_done done)
{
	return j->action.surge->task == SURGE_TASK_CREATE ? go_creating(j, answer, write_ms, done)
							  : go_reading(j, answer, done);
}
