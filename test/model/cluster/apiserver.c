/* The modelled API server's verbs: GET, POST, PATCH and DELETE of one object, and LIST. Answers are
 * the status code and the body; when they arrive, if they do, is the link's affair. */
#include "apiserver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects/api_object.h"
#include "checks/eviction.h"
#include "json/decode.h"
#include "model/names.h"
#include "objects/patch.h"
#include "objects/request_path.h"
#include "rules.h"
#include "webhook.h"

struct verb {
	struct sim *sim;
	int actor;
	const struct api_request *request;
	struct api_path path;
	enum resource resource;
	struct api_answer *answer;
};

static void answer_object(struct verb *v, int code, const json_t *value)
{
	v->answer->status = code;
	v->answer->body = value_text(value);
}

static struct stored *verb_find(struct verb *v)
{
	struct stored *o = store_find(&v->sim->store, v->resource, v->path.ns, v->path.name);
	if (o == NULL) {
		api_status(v->answer, 404, "NotFound", "no such object");
	}
	return o;
}

static json_t *read_body(struct verb *v)
{
	json_t *body = NULL;
	struct fault f = {0};
	if (decode_parse(v->request->body, v->request->body_size, DECODE_PLAIN, &body, &f) != 0) {
		api_status(v->answer, 400, "BadRequest", "the body is no JSON");
		return NULL;
	}
	return body;
}

static void get_one(struct verb *v)
{
	struct stored *o = verb_find(v);
	if (o != NULL) {
		answer_object(v, 200, o->value);
	}
}

/* --- POST --- */

static void prepare_pod(json_t *pod)
{
	json_t *spec = json_object_get(pod, "spec");
	const char *class = json_string_value(json_object_get(spec, "priorityClassName"));
	json_object_set_new(
		spec, "priority", json_integer(text_equals(class, NAME_CAPACITY) ? 1000000000 : 0));
	json_object_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
}

static void post(struct verb *v)
{
	char dry[8];
	json_t *body = read_body(v);
	if (body == NULL) {
		return;
	}
	if (strcmp(v->path.sub, "eviction") == 0) {
		struct stored *o = verb_find(v);
		if (o != NULL) {
			apiserver_evict(v->sim, v->actor, o, body, v->answer);
		}
		json_decref(body);
		return;
	}
	json_t *meta = json_object_get(body, "metadata");
	const char *name = json_string_value(json_object_get(meta, "name"));
	bool taken = !text_empty(name) &&
		     store_find(&v->sim->store, v->resource, v->path.ns, name) != NULL;
	if (v->resource == RES_PODS && v->sim->weather.rolled && !text_empty(name) && !taken) {
		webhook_admit(v->sim, v->actor, api_query(v->path.query, "dryRun", dry, sizeof dry),
			body);
	}
	if (text_empty(name)) {
		api_status(v->answer, 422, "Invalid", "metadata.name: required");
	} else if (taken) {
		api_status(v->answer, 409, "AlreadyExists", "it exists already");
	} else if (api_query(v->path.query, "dryRun", dry, sizeof dry)) {
		answer_object(v, 201, body);
	} else {
		json_object_set_new(meta, "namespace", json_string(v->path.ns));
		json_object_del(meta, "resourceVersion");
		if (v->resource == RES_RECOMMENDATIONS) {
			json_object_set_new(meta, "generation", json_integer(1));
		}
		if (v->resource == RES_PODS) {
			prepare_pod(body);
		}
		struct stored *o = store_put(&v->sim->store, v->resource, body, v->actor);
		if (o == NULL) {
			api_status(v->answer, 422, "Invalid", "it cannot mean anything");
			return;
		}
		answer_object(v, 201, o->value);
		return;
	}
	json_decref(body);
}

/* --- preconditions --- */

/* An object of another uid is a conflict where a version was named too, and otherwise an attempt to
 * change what cannot be changed; seen on 1.36. */
static bool precondition_holds(
	struct verb *v, const struct stored *o, const char *uid, const char *version)
{
	char have[32];
	snprintf(have, sizeof have, "%lld", (long long)o->version);
	if (!text_empty(version) && strcmp(have, version) != 0) {
		api_status(v->answer, 409, "Conflict", "the object has been modified");
		return false;
	}
	if (!text_empty(uid) && strcmp(o->uid, uid) != 0) {
		if (v->request->method == WIRE_DELETE || !text_empty(version)) {
			api_status(
				v->answer, 409, "Conflict", "the uid in the precondition differs");
		} else {
			api_status(v->answer, 422, "Invalid",
				"metadata.uid: Invalid value: field is immutable");
		}
		return false;
	}
	return true;
}

/* --- PATCH --- */

static json_t *patched(struct verb *v, const struct stored *o, const json_t *patch)
{
	json_t *draft = store_draft(o);
	json_t *status = json_object_get(draft, "status");
	if (strcmp(v->path.sub, "status") != 0) {
		/* The status is not changed through the object itself. */
		json_t *keep = json_deep_copy(status);
		patch_merge(draft, patch);
		if (keep != NULL) {
			json_object_set_new(draft, "status", keep);
		}
		return draft;
	}
	if (status == NULL) {
		status = json_object();
		json_object_set_new(draft, "status", status);
	}
	if (text_equals(v->request->content_type, KUBE_APPLY_PATCH)) {
		/* Nobody else writes any of it. */
		json_object_set(draft, "status", json_object_get(patch, "status"));
	} else if (text_equals(v->request->content_type, KUBE_STRATEGIC_PATCH)) {
		patch_conditions(status, json_object_get(patch, "status"));
	} else {
		patch_merge(status, json_object_get(patch, "status"));
	}
	return draft;
}

static bool is_fenced(struct verb *v, const struct stored *o, const json_t *draft)
{
	static const char *const leases[] = {NAME_CONTROLLER, NAME_TERM};
	bool fenced = false;
	for (size_t i = 0; i < COUNT_OF(leases); i++) {
		const struct stored *lease =
			store_find(&v->sim->store, RES_LEASES, NAME_NAMESPACE, leases[i]);
		fenced = fenced ||
			 !rules_fence(lease != NULL ? lease->value : NULL, o->value, draft);
	}
	return v->resource == RES_PODS && v->path.sub[0] == '\0' && fenced;
}

static void apply(struct verb *v, struct stored *o, const json_t *patch)
{
	json_t *draft = patched(v, o, patch);
	if (is_fenced(v, o, draft)) {
		v->sim->report->fenced++;
		api_status(v->answer, 403, "Forbidden",
			"ValidatingAdmissionPolicy '" NAME_FENCE "' denied request: of a term that "
			"is over");
		json_decref(draft);
		return;
	}
	const char *why = v->resource == RES_PODS ? rules_check_pod(o->value, draft) : NULL;
	if (why != NULL) {
		api_status(v->answer, 422, "Invalid", why);
		json_decref(draft);
		return;
	}
	struct stored *next = store_put(&v->sim->store, v->resource, draft, v->actor);
	if (next == NULL) {
		api_status(v->answer, 422, "Invalid", "it cannot mean anything");
		return;
	}
	answer_object(v, 200, next->value);
}

static void patch(struct verb *v)
{
	const char *uid = NULL, *version = NULL;
	json_t *body = read_body(v);
	struct stored *o = body != NULL ? verb_find(v) : NULL;
	bool merges = text_equals(v->request->content_type, KUBE_MERGE_PATCH);
	bool strategic = text_equals(v->request->content_type, KUBE_STRATEGIC_PATCH);
	bool applies = text_equals(v->request->content_type, KUBE_APPLY_PATCH) &&
		       v->resource == RES_RECOMMENDATIONS;
	bool status = strcmp(v->path.sub, "status") == 0;
	if (o != NULL && !merges && !(strategic && status) && !(applies && status)) {
		api_status(v->answer, 415, "UnsupportedMediaType", "not modelled");
		o = NULL;
	}
	if (o != NULL && decode_text(body, "metadata.uid", &uid, NULL) == 0 &&
		decode_text(body, "metadata.resourceVersion", &version, NULL) == 0 &&
		precondition_holds(v, o, uid, version)) {
		apply(v, o, body);
	}
	json_decref(body);
}

/* --- DELETE --- */

static void delete (struct verb *v)
{
	const char *uid = NULL, *version = NULL;
	json_t *body = read_body(v);
	struct stored *o = body != NULL ? verb_find(v) : NULL;
	if (o != NULL && decode_text(body, "preconditions.uid", &uid, NULL) == 0 &&
		decode_text(body, "preconditions.resourceVersion", &version, NULL) == 0 &&
		precondition_holds(v, o, uid, version)) {
		int64_t grace = json_integer_value(json_object_get(body, "gracePeriodSeconds"));
		answer_object(v, 200, o->value);
		if (v->resource == RES_PODS) {
			apiserver_delete_pod(v->sim, o, grace, v->actor);
		} else {
			store_remove(&v->sim->store, o, v->actor);
		}
	}
	json_decref(body);
}

/* --- LIST --- */

/* "key%3Dvalue"; nothing else is asked for. */
static bool is_selected(const struct verb *v, const struct stored *o)
{
	char selector[256];
	if (!api_query(v->path.query, "labelSelector", selector, sizeof selector)) {
		return true;
	}
	char *mark = strstr(selector, "%3D");
	ENSURE(mark != NULL);
	*mark = '\0';
	const json_t *labels = decode_find(o->value, "metadata.labels");
	return text_equals(json_string_value(json_object_get(labels, selector)), mark + 3);
}

static bool object_is_listed(const struct verb *v, const struct stored *o)
{
	const struct sim_hooks *hooks = v->sim->config.hooks;
	bool hidden = hooks != NULL && hooks->budgets_hidden && o->resource == RES_BUDGETS;
	return o->resource == v->resource && !hidden &&
	       (v->path.ns[0] == '\0' || strcmp(v->path.ns, o->ns) == 0) && is_selected(v, o);
}

static struct listing *list_anew(struct verb *v)
{
	const struct store *store = &v->sim->store;
	struct listing *l = pages_begin(v->sim);
	for (size_t i = 0; i < store->items.count; i++) {
		const struct stored *o = store->items.items[i];
		if (object_is_listed(v, o)) {
			VEC_PUSH(&l->items, stored_keep(o));
		}
	}
	return l;
}

static void verb_list(struct verb *v)
{
	char limit[16], token[64];
	size_t from = 0;
	bool last, goes_on = api_query(v->path.query, "continue", token, sizeof token);
	bool pages =
		v->sim->weather.paged && api_query(v->path.query, "limit", limit, sizeof limit);
	struct listing *l = goes_on ? pages_find(v->sim, token, &from) : list_anew(v);
	if (l == NULL) {
		api_status(v->answer, 410, "Expired", "the continue token is too old");
		return;
	}
	json_t *page = pages_page(l, from, !pages, &last);
	answer_object(v, 200, page);
	json_decref(page);
	v->answer->listed = last ? l->version : LISTED_PARTLY;
}

/* Of kinds that nobody has. */
static bool lists_nothing(const struct api_path *p, enum wire_method method)
{
	static const char *const kinds[] = {"replicationcontrollers", "statefulsets", "daemonsets",
		"jobs", "persistentvolumeclaims"};
	bool found = false;
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		found = found || strcmp(p->resource, kinds[i]) == 0;
	}
	return found && method == WIRE_GET && p->name[0] == '\0';
}

void apiserver_handle(
	struct sim *s, int actor, const struct api_request *r, struct api_answer *ret_answer)
{
	struct verb v = {.sim = s, .actor = actor, .request = r, .answer = ret_answer};
	*ret_answer = (struct api_answer){0};
	if (!api_path_parse(r->path, &v.path)) {
		api_status(ret_answer, 400, "BadRequest", "the path cannot be read");
		return;
	}
	if (strcmp(v.path.resource, "events") == 0) {
		/* Events are taken and forgotten. */
		ret_answer->status = r->method == WIRE_POST ? 201 : 200;
		ret_answer->body = xstrdup("{}");
		return;
	}
	if (s->weather.rolled && lists_nothing(&v.path, r->method)) {
		ret_answer->status = 200;
		ret_answer->body =
			xstrdup("{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[]}");
		return;
	}
	if (!api_resource(&v.path, &v.resource) ||
		(v.resource > RES_LEASES && !s->weather.rolled)) {
		api_status(ret_answer, 404, "NotFound", "no such resource");
		return;
	}
	switch (r->method) {
	case WIRE_GET:
		v.path.name[0] != '\0' ? get_one(&v) : verb_list(&v);
		return;
	case WIRE_POST:
		post(&v);
		return;
	case WIRE_PATCH:
		patch(&v);
		return;
	case WIRE_DELETE:
		delete (&v);
		return;
	case WIRE_PUT:
		break;
	}
	api_status(ret_answer, 405, "MethodNotAllowed", "not modelled");
}
