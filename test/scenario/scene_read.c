/* What was written, read as JSON. */
#include "scene_parts.h"

#include <jansson.h>

/* Of a list the one with that `name` or `type`, or the n-th. */
static const json_t *pick(const json_t *list, const char *key)
{
	size_t i;
	const json_t *item;
	json_array_foreach(list, i, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));
		const char *type = json_string_value(json_object_get(item, "type"));
		if (text_equals(text_or(name, text_or(type, "")), key)) {
			return item;
		}
	}
	int64_t at = 0;
	return parse_i64(view_of(key), 0, 1000, &at) ? json_array_get(list, (size_t)at) : NULL;
}

static const json_t *walk(const json_t *at, const char *path)
{
	char key[128];
	while (at != NULL && *path != '\0') {
		size_t n = strcspn(path, ".");
		cr_assert_lt(n, sizeof key);
		snprintf(key, sizeof key, "%.*s", (int)n, path);
		at = json_is_array(at) ? pick(at, key) : json_object_get(at, key);
		path += path[n] == '.' ? n + 1 : n;
	}
	return at;
}

static void write_value(struct str *out, const json_t *value)
{
	if (json_is_string(value)) {
		str_append_text(out, json_string_value(value));
		return;
	}
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	str_append_text(out, text);
	free(text);
}

const char *scene_text(struct scene *s, const char *object, const char *path)
{
	struct object *o = server_find(&s->server, "gpurecommendations", object);
	bool status = strncmp(path, "status", 6) == 0;
	const char *text = o == NULL ? NULL : status ? o->status : o->head;
	if (text == NULL) {
		return NULL;
	}
	path += status ? path[6] == '.' ? 7 : 6 : 0;
	json_t *root = json_loads(text, 0, NULL);
	const json_t *value = walk(root, path);
	str_reset(&s->text);
	if (value != NULL) {
		write_value(&s->text, value);
	}
	json_decref(root);
	return value != NULL ? str_text(&s->text) : NULL;
}

const char *scene_pretty(struct scene *s, const char *object)
{
	struct object *o = server_find(&s->server, "gpurecommendations", object);
	if (o == NULL || o->status == NULL) {
		return NULL;
	}
	json_t *root = json_loads(o->head, 0, NULL);
	json_object_set_new(root, "status", json_loads(o->status, 0, NULL));
	char *text = json_dumps(root, JSON_INDENT(2) | JSON_SORT_KEYS);
	str_reset(&s->text);
	str_append_text(&s->text, text);
	str_append_char(&s->text, '\n');
	free(text);
	json_decref(root);
	return str_text(&s->text);
}

bool scene_has(struct scene *s, const char *object)
{
	return server_find(&s->server, "gpurecommendations", object) != NULL;
}

int scene_writes(const struct scene *s, const char *object)
{
	for (size_t i = 0; i < s->server.object_count; i++) {
		const struct object *o = &s->server.objects[i];
		if (text_equals(o->name, object)) {
			return o->writes;
		}
	}
	return 0;
}

int scene_objects(const struct scene *s)
{
	int count = 0;
	for (size_t i = 0; i < s->server.object_count; i++) {
		count += text_equals(s->server.objects[i].resource, "gpurecommendations");
	}
	return count;
}

static int count(const struct scene *s, const char *type, const char *reason)
{
	char text[128];
	int n = 0;
	snprintf(text, sizeof text, "%s %s", type, reason);
	for (size_t i = 0; i < s->server.reasons.count; i++) {
		n += text_equals(s->server.reasons.items[i], text);
	}
	return n;
}

int scene_warnings(const struct scene *s, const char *reason)
{
	return count(s, "Warning", reason);
}

int scene_events(const struct scene *s, const char *reason)
{
	return count(s, "Normal", reason) + scene_warnings(s, reason);
}

const char *scene_note(const struct scene *s)
{
	return s->server.note;
}

void scene_spoil_checkpoints(struct scene *s)
{
	for (size_t i = 0; i < s->server.object_count; i++) {
		struct object *o = &s->server.objects[i];
		json_t *root = o->status != NULL ? json_loads(o->status, 0, NULL) : NULL;
		if (root == NULL || !text_equals(o->resource, "gpuusagecheckpoints")) {
			json_decref(root);
			continue;
		}
		cr_assert_eq(json_object_set_new(root, "version", json_string("v99")), 0);
		free(o->status);
		o->status = json_dumps(root, JSON_COMPACT);
		json_decref(root);
	}
}

/* --- golden --- */

static char *read_golden(const char *path)
{
	char *text = xcalloc(1, 65536);
	FILE *f = fopen(path, "re");
	if (f != NULL) {
		(void)!fread(text, 1, 65535, f);
		fclose(f);
	}
	return text;
}

void scene_golden(struct scene *s, const char *object, const char *name)
{
	char path[1024];
	snprintf(path, sizeof path, "%s/%s.json", SCENARIO_GOLDEN, name);
	const char *found = scene_pretty(s, object);
	cr_assert_not_null(found);
	if (getenv("SCENARIO_WRITE") != NULL) {
		FILE *f = fopen(path, "we");
		cr_assert_not_null(f, "%s", path);
		cr_assert_geq(fputs(found, f), 0);
		cr_assert_eq(fclose(f), 0);
	}
	char *wanted = read_golden(path);
	cr_expect(text_equals(wanted, found), "%s is not what was written now:\n%s", path, found);
	free(wanted);
	scene_free(s);
}
