/* The played API server: it keeps GPURecommendations and checkpoints as the JSON that was written,
 * answers who asks for an owner, and remembers events. */
#include "scene_parts.h"

/* As a real API server says that a budget allows no eviction. */
#define NO_ROOM                                                                                    \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"Cannot "  \
	"evict "                                                                                   \
	"pod as it would violate the pod's disruption budget.\",\"reason\":\"TooManyRequests\","   \
	"\"details\":{\"causes\":[{\"reason\":\"DisruptionBudget\",\"message\":\"The disruption "  \
	"budget "                                                                                  \
	"web-pdb needs 3 healthy pods and has 3 currently\"}]},\"code\":429}"

static struct call *take(struct server *v, const struct wire_request *r)
{
	cr_assert_lt(v->count, CALLS_MAX);
	struct call *c = &v->calls[v->count++];
	*c = (struct call){.id = ++v->ids,
		.method = r->method,
		.path = xstrdup(r->path),
		.to = xstrdup(r->to),
		.body = r->body != NULL ? xstrndup(r->body, r->body_size) : NULL,
		.stream = r->stream};
	return c;
}

static uint64_t send(
	struct wire *w, const struct wire_request *r, const struct wire_events *events, void *data)
{
	struct call *c = take(CONTAINER_OF(w, struct server, wire), r);
	c->events = events;
	c->data = data;
	return c->id;
}

static void call_finish(struct call *c)
{
	free(c->path);
	free(c->to);
	free(c->body);
}

static void cancel(struct wire *w, uint64_t id)
{
	struct server *v = CONTAINER_OF(w, struct server, wire);
	for (size_t i = 0; i < v->count; i++) {
		if (v->calls[i].id == id) {
			call_finish(&v->calls[i]);
			v->calls[i] = v->calls[--v->count];
			return;
		}
	}
}

static const struct wire_impl impl = {.send = send, .cancel = cancel};

void server_init(struct server *v)
{
	v->wire.impl = &impl;
	v->owners_status = v->lists_status = 200;
	v->refusal = 429;
	v->refusal_text = NO_ROOM;
}

void server_remove(struct server *v, size_t i)
{
	struct object *o = &v->objects[i];
	free(o->resource);
	free(o->name);
	free(o->head);
	free(o->status);
	*o = v->objects[--v->object_count];
}

void server_finish(struct server *v)
{
	cr_expect_eq(v->count, 0, "a request was left open");
	while (v->object_count > 0) {
		server_remove(v, v->object_count - 1);
	}
	for (size_t i = 0; i < v->reasons.count; i++) {
		free(v->reasons.items[i]);
	}
	VEC_FINISH(&v->reasons);
}

struct object *server_find(struct server *v, const char *resource, const char *name)
{
	for (size_t i = 0; i < v->object_count; i++) {
		struct object *o = &v->objects[i];
		if (text_equals(o->resource, resource) && text_equals(o->name, name)) {
			return o;
		}
	}
	return NULL;
}

/* --- answers --- */

void server_reply(struct call *c, int status, const char *body)
{
	struct wire_answer answer = {.status = status, .body = body, .body_size = strlen(body)};
	if (c->stream && status == 200) {
		if (c->events->on_data(c->data, 200, body, strlen(body))) {
			answer.body = "";
			answer.body_size = 0;
		}
		answer = (struct wire_answer){.status = 200, .body = ""};
	}
	c->events->on_done(c->data, &answer);
}

void server_refuse(struct call *c, int status)
{
	char body[160];
	snprintf(body, sizeof body, "{\"kind\":\"Status\",\"code\":%d,\"message\":\"no\"}", status);
	server_reply(c, status, body);
}

json_t *server_parse(const char *text)
{
	json_error_t e;
	json_t *root = json_loads(text, 0, &e);
	cr_assert_not_null(root, "not JSON: %s: %s", e.text, text);
	return root;
}

static const char *text_at(const json_t *root, const char *parent, const char *key)
{
	return text_or(json_string_value(json_object_get(json_object_get(root, parent), key)), "");
}

/* The object with what a server adds to it. */
static void make(struct scene *s, struct call *c, const char *resource)
{
	struct server *v = &s->server;
	json_t *root = server_parse(c->body);
	const char *name = text_at(root, "metadata", "name");
	char uid[64];
	if (server_find(v, resource, name) != NULL) {
		json_decref(root);
		server_refuse(c, 409);
		return;
	}
	cr_assert_lt(v->object_count, OBJECTS_MAX);
	struct object *o = &v->objects[v->object_count++];
	snprintf(uid, sizeof uid, "uid-%d", ++v->made);
	json_t *meta = json_object_get(root, "metadata");
	json_object_set_new(meta, "uid", json_string(uid));
	json_object_set_new(meta, "generation", json_integer(1));
	json_object_set_new(meta, "resourceVersion", json_string("1"));
	*o = (struct object){.resource = xstrdup(resource),
		.name = xstrdup(name),
		.head = json_dumps(root, JSON_COMPACT),
		.is_new = true};
	json_decref(root);
	server_reply(c, 201, o->head);
}

static void write_status(struct scene *s, struct call *c, const char *resource)
{
	json_t *root = server_parse(c->body);
	struct object *o = server_find(&s->server, resource, text_at(root, "metadata", "name"));
	if (o == NULL) {
		json_decref(root);
		server_refuse(c, 404);
		return;
	}
	free(o->status);
	o->status = json_dumps(json_object_get(root, "status"), JSON_COMPACT);
	o->writes++;
	o->version++;
	o->is_new = true;
	json_decref(root);
	server_reply(c, 200, "{}");
}

static void evict(struct scene *s, struct call *c)
{
	const char *name = strstr(c->path, "/pods/") + 6;
	char pod[64];
	s->server.evictions++;
	if (s->server.refusal != 0) {
		server_reply(c, s->server.refusal, s->server.refusal_text);
		return;
	}
	snprintf(pod, sizeof pod, "%.*s", (int)strcspn(name, "/"), name);
	server_reply(c, 201, "{}");
	scene_replace(s, pod);
}

static void read_owner(struct scene *s, struct call *c)
{
	if (s->server.owners_status != 200) {
		server_refuse(c, s->server.owners_status);
		return;
	}
	char body[512];
	int n = 0;
	for (size_t i = 0; i < s->pod_count; i++) {
		n += text_equals(text_or(s->pods[i].p.owner, OWNER), OWNER);
	}
	snprintf(body, sizeof body,
		"{\"metadata\":{\"name\":\"web\",\"uid\":\"owner-uid\",\"generation\":1,"
		"\"annotations\":{"
		"\"deployment.kubernetes.io/revision\":\"1\"}},\"spec\":{"
		"\"replicas\":%d},\"status\":{\"observedGeneration\":1,\"replicas\":%d,"
		"\"updatedReplicas\":%d,\"readyReplicas\":%d,\"availableReplicas\":%d}}",
		n, n, s->rolls ? n - 1 : n, n, n);
	server_reply(c, 200, body);
}

static void take_event(struct scene *s, struct call *c)
{
	struct server *v = &s->server;
	json_t *root = server_parse(c->body);
	const char *reason = json_string_value(json_object_get(root, "reason"));
	const char *note = json_string_value(json_object_get(root, "note"));
	if (c->method == WIRE_POST) {
		char text[128];
		const char *type = json_string_value(json_object_get(root, "type"));
		snprintf(text, sizeof text, "%s %s", text_or(type, ""), text_or(reason, ""));
		VEC_PUSH(&v->reasons, xstrdup(text));
		snprintf(v->note, sizeof v->note, "%s", text_or(note, ""));
	}
	json_decref(root);
	server_reply(c, c->method == WIRE_POST ? 201 : 200, c->body);
}

/* By its name, as long as it is the one that is meant. */
static void delete (struct scene *s, struct call *c, const char *resource)
{
	json_t *root = server_parse(c->body);
	struct object *o = server_find(&s->server, resource, strrchr(c->path, '/') + 1);
	json_t *head = o != NULL ? server_parse(o->head) : NULL;
	bool same = text_equals(
		text_at(head, "metadata", "uid"), text_at(root, "preconditions", "uid"));
	if (o != NULL && same) {
		o->gone = true;
	}
	json_decref(head);
	json_decref(root);
	if (o == NULL || !same) {
		server_refuse(c, o == NULL ? 404 : 409);
		return;
	}
	server_reply(c, 200, "{}");
}

/* All checkpoints, as a watch that begins with a picture tells them. */
static void list_checkpoints(struct scene *s, struct call *c)
{
	CLEANUP(str_finish) struct str out = STR_INIT(1 << 20);
	if (s->server.lists_status != 200) {
		server_refuse(c, s->server.lists_status);
		return;
	}
	for (size_t i = 0; i < s->server.object_count; i++) {
		const struct object *o = &s->server.objects[i];
		if (text_equals(o->resource, "gpuusagecheckpoints")) {
			str_append_format(&out,
				"{\"type\":\"ADDED\",\"object\":%.*s,\"status\":%s}}\n",
				(int)strlen(o->head) - 1, o->head, text_or(o->status, "{}"));
		}
	}
	str_append_text(&out,
		"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\","
		"\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n");
	cr_assert(!out.overflow);
	server_reply(c, 200, str_text(&out));
}

static void read_page(struct scene *s, struct call *c)
{
	CLEANUP(str_finish) struct str page = STR_INIT(1 << 20);
	if (strncmp(c->to, "10.0.0.1:", 9) == 0) {
		page_of_node(s, &page);
	} else {
		str_append_text(&page, text_or(page_of_app(s, c->to), ""));
	}
	if (s->silent || s->agents_gone) {
		struct wire_answer broken = {.body = ""};
		fault_set(&broken.fault, FAULT_TRANSIENT, "the connection broke");
		c->events->on_done(c->data, &broken);
		return;
	}
	server_reply(c, 200, str_text(&page));
}

static void query(struct scene *s, struct call *c)
{
	CLEANUP(str_finish) struct str out = STR_INIT(1 << 20);
	answer_query(s, c->path, c->body, &out);
	cr_assert(!out.overflow);
	server_reply(c, 200, str_text(&out));
}

static const char *resource_of(const char *path)
{
	return strstr(path, "/gpuusagecheckpoints") != NULL ? "gpuusagecheckpoints"
							    : "gpurecommendations";
}

static void answer(struct scene *s, struct call *c)
{
	bool ours = strstr(c->path, "/apis/aliquot.dev/") == c->path;
	if (c->to != NULL) {
		read_page(s, c);
	} else if (strncmp(c->path, "/api/v1/query", 13) == 0) {
		query(s, c);
	} else if (strstr(c->path, "/eviction") != NULL) {
		evict(s, c);
	} else if (strstr(c->path, "/events") != NULL) {
		take_event(s, c);
	} else if (!ours && surge_serve(s, c)) {
		return;
	} else if (ours && c->method == WIRE_POST) {
		make(s, c, resource_of(c->path));
	} else if (ours && c->method == WIRE_PATCH) {
		write_status(s, c, resource_of(c->path));
	} else if (ours && c->method == WIRE_DELETE) {
		delete (s, c, resource_of(c->path));
	} else if (ours && c->stream) {
		list_checkpoints(s, c);
	} else if (!ours && c->method == WIRE_GET) {
		read_owner(s, c);
	} else {
		cr_assert_fail("nobody plays %s", c->path);
	}
}

bool server_answer(struct scene *s)
{
	struct server *v = &s->server;
	bool any = false;
	while (v->count > 0) {
		struct call c = v->calls[0];
		v->count--;
		memmove(v->calls, v->calls + 1, v->count * sizeof c);
		answer(s, &c);
		call_finish(&c);
		any = true;
	}
	return any;
}
