/* What a surge asks of the API server (C24, C25), and the ReplicaSet that adopts the new pod. All
 * else that might claim it, scale it or forbid it is not there. */
#include "scene_parts.h"

#include "model/names.h"

#define TEXT_MAX ((size_t)64 * 1024)

/* --- pods that were written --- */

void surge_forget(struct shown_pod *shown)
{
	json_decref(shown->over);
	shown->over = NULL;
}

static json_t *made_object(json_t *parent, const char *key)
{
	json_t *found = json_object_get(parent, key);
	if (found == NULL) {
		found = json_object();
		json_object_set_new(parent, key, found);
	}
	return found;
}

static void merge(json_t *into, const json_t *from)
{
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)from, key, value)
	{
		if (json_is_null(value)) {
			json_object_del(into, key);
		} else {
			json_object_set(into, key, value);
		}
	}
}

void surge_overlay(const struct shown_pod *shown, struct str *json)
{
	if (shown->over == NULL) {
		return;
	}
	json_t *root = server_parse(str_text(json));
	json_t *meta = json_object_get(root, "metadata");
	if (shown->beside) {
		json_t *owner = json_array_get(json_object_get(meta, "ownerReferences"), 0);
		json_object_set_new(owner, "controller", json_false());
		json_object_del(json_object_get(meta, "labels"), LABEL_TEMPLATE_HASH);
	}
	merge(made_object(meta, "labels"), json_object_get(shown->over, "labels"));
	merge(made_object(meta, "annotations"), json_object_get(shown->over, "annotations"));
	char *text = json_dumps(root, JSON_COMPACT);
	str_reset(json);
	str_append_text(json, text);
	free(text);
	json_decref(root);
}

/* Its ReplicaSet has one too many then. */
static void adopt(struct scene *s, struct shown_pod *shown)
{
	shown->beside = false;
	scene_show(s, shown);
	if (s->deleted != NULL) {
		scene_pod_gone(s, s->deleted);
	}
}

static void patch(struct scene *s, struct call *c, struct shown_pod *shown)
{
	json_t *root = server_parse(c->body);
	json_t *meta = json_object_get(root, "metadata");
	if (shown->over == NULL) {
		shown->over = json_object();
	}
	json_object_update(made_object(shown->over, "labels"), json_object_get(meta, "labels"));
	json_object_update(
		made_object(shown->over, "annotations"), json_object_get(meta, "annotations"));
	bool adopted = shown->beside &&
		       json_object_get(json_object_get(shown->over, "labels"), LABEL_TEMPLATE_HASH);
	json_decref(root);
	server_reply(c, 200, "{}");
	if (adopted) {
		adopt(s, shown);
	} else {
		scene_show(s, shown);
	}
}

/* --- the new pod --- */

/* As the webhook marks it. */
static void answer_dry_run(struct call *c, json_t *root)
{
	json_t *meta = json_object_get(root, "metadata");
	json_t *notes = made_object(meta, "annotations");
	json_object_set_new(made_object(meta, "labels"), LABEL_TENANT, json_string("true"));
	json_object_set_new(notes, NOTE_COMPUTE_MILLI, json_string("300"));
	json_object_set_new(notes, NOTE_MEMORY_MIB, json_string("7168"));
	json_object_set_new(meta, "uid", json_string("dry"));
	json_object_set_new(meta, "resourceVersion", json_string("1"));
	json_object_set_new(json_object_get(root, "spec"), "schedulingGates",
		json_pack("[{s:s}]", "name", NAME_GATE));
	char *text = json_dumps(root, JSON_COMPACT);
	server_reply(c, 201, text);
	free(text);
}

static void make_pod(struct scene *s, struct call *c)
{
	json_t *root = server_parse(c->body);
	json_t *meta = json_object_get(root, "metadata");
	if (strstr(c->path, "dryRun=All") != NULL) {
		answer_dry_run(c, root);
		json_decref(root);
		return;
	}
	cr_assert_lt(s->made_count, SCENE_POD_MAX);
	char *name = s->made[s->made_count++];
	snprintf(name, sizeof s->made[0], "%s", json_string_value(json_object_get(meta, "name")));
	cr_assert_lt(s->pod_count, SCENE_POD_MAX);
	struct shown_pod *shown = &s->pods[s->pod_count++];
	*shown = (struct shown_pod){.p = {.name = name, .milli = 300, .mib = 7168},
		.created_ms = scene_now(s),
		.beside = true,
		.over = json_pack("{s:O, s:O}", "labels", json_object_get(meta, "labels"),
			"annotations", json_object_get(meta, "annotations"))};
	json_decref(root);
	server_reply(c, 201, "{}");
	scene_show(s, shown);
	scene_use(s, name, 20, 6144);
	scene_want(s);
}

/* --- what is read --- */

static void answer_set(struct scene *s, struct call *c)
{
	char body[1024];
	int n = 0;
	for (size_t i = 0; i < s->pod_count; i++) {
		n += !s->pods[i].beside && text_equals(text_or(s->pods[i].p.owner, OWNER), OWNER);
	}
	snprintf(body, sizeof body,
		"{\"metadata\":{\"name\":\"" OWNER "\",\"uid\":\"owner\",\"generation\":1,"
		"\"annotations\":{\"deployment.kubernetes.io/revision\":\"1\"},"
		"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
		"\"name\":\"web\",\"uid\":\"owner-uid\",\"controller\":true}]},\"spec\":{"
		"\"replicas\":3,\"selector\":{\"matchLabels\":{\"" LABEL_TEMPLATE_HASH
		"\":\"1234abcd\"}},\"template\":{\"metadata\":{\"labels\":{\"" LABEL_TEMPLATE_HASH
		"\":\"1234abcd\"}},\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":"
		"\"registry/app:1\"}]}}},\"status\":{\"replicas\":%d}}",
		n);
	server_reply(c, 200, body);
}

static void answer_pod(struct scene *s, struct call *c, const struct shown_pod *shown)
{
	CLEANUP(str_finish) struct str json = STR_INIT(TEXT_MAX);
	if (shown == NULL) {
		server_refuse(c, 404);
		return;
	}
	scene_pod_json(s, shown, &json);
	server_reply(c, 200, str_text(&json));
}

/* Those that its ReplicaSet selects. */
static void answer_pods(struct scene *s, struct call *c)
{
	CLEANUP(str_finish) struct str out = STR_INIT(16 * TEXT_MAX);
	str_append_text(&out, "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[");
	for (size_t i = 0, n = 0; i < s->pod_count; i++) {
		CLEANUP(str_finish) struct str json = STR_INIT(TEXT_MAX);
		if (!s->pods[i].beside) {
			scene_pod_json(s, &s->pods[i], &json);
			str_append_format(&out, "%s%s", n++ > 0 ? "," : "", str_text(&json));
		}
	}
	str_append_text(&out, "]}");
	server_reply(c, 200, str_text(&out));
}

static struct shown_pod *pod_of(struct scene *s, const char *path)
{
	char name[128];
	const char *at = strstr(path, "/pods/") + 6;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "/?"), at);
	return scene_shown(s, name);
}

bool surge_serve(struct scene *s, struct call *c)
{
	static const char *const lists[] = {"/replicasets", "/replicationcontrollers",
		"/statefulsets", "/daemonsets", "/jobs", "/horizontalpodautoscalers",
		"/poddisruptionbudgets"};
	bool gets = c->method == WIRE_GET;
	if (strstr(c->path, "/pods/") != NULL) {
		struct shown_pod *shown = pod_of(s, c->path);
		if (gets) {
			answer_pod(s, c, shown);
		} else {
			cr_assert(c->method == WIRE_PATCH && shown != NULL, "%s", c->path);
			patch(s, c, shown);
		}
		return true;
	}
	if (strstr(c->path, "/pods") != NULL) {
		gets ? answer_pods(s, c) : make_pod(s, c);
		return true;
	}
	if (gets && strstr(c->path, "/replicasets/") != NULL && s->surges) {
		answer_set(s, c);
		return true;
	}
	for (size_t i = 0; gets && i < COUNT_OF(lists); i++) {
		size_t n = strlen(c->path), k = strlen(lists[i]);
		if (n > k && text_equals(c->path + n - k, lists[i])) {
			server_reply(
				c, 200, "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}");
			return true;
		}
	}
	return false;
}
