/* Objects and their history. */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/str.h"
#include "facts.h"

#define TEXT_MAX      (64 << 20)
#define WALL_START_MS 1800000000000

static const char *const names[RES_COUNT] = {"pods", "nodes", "namespaces", "limitranges",
	"resourcequotas", "gpupolicies", "leases", "replicasets", "deployments",
	"poddisruptionbudgets", "horizontalpodautoscalers", "gpurecommendations"};

const char *resource_name(enum resource resource)
{
	return names[resource];
}

int64_t store_wall(const struct store *s)
{
	return WALL_START_MS + s->agenda->now;
}

void store_init(struct store *s, const struct agenda *agenda,
	void (*on_commit)(void *data, const struct commit *c), void *data)
{
	*s = (struct store){.version = 1000,
		.serial = 1,
		.agenda = agenda,
		.on_commit = on_commit,
		.data = data};
}

struct stored *stored_keep(const struct stored *o)
{
	struct stored *kept = (struct stored *)(uintptr_t)o;
	if (kept != NULL) {
		kept->refs++;
	}
	return kept;
}

void stored_drop(struct stored *o)
{
	if (o == NULL || --o->refs > 0) {
		return;
	}
	arena_finish(&o->arena);
	json_decref(o->value);
	free(o->ns);
	free(o->name);
	free(o->uid);
	free(o);
}

void store_finish(struct store *s)
{
	for (size_t i = 0; i < s->items.count; i++) {
		stored_drop(s->items.items[i]);
	}
	vec_for_each (struct past, p, &s->past) {
		free(p->text);
	}
	VEC_FINISH(&s->items);
	VEC_FINISH(&s->past);
}

struct stored *store_find(
	const struct store *s, enum resource resource, const char *ns, const char *name)
{
	for (size_t i = 0; i < s->items.count; i++) {
		struct stored *o = s->items.items[i];
		if (o->resource == resource && strcmp(o->name, name) == 0 &&
			strcmp(o->ns, text_or(ns, "")) == 0) {
			return o;
		}
	}
	return NULL;
}

struct stored *store_find_uid(const struct store *s, const char *uid)
{
	for (size_t i = 0; i < s->items.count; i++) {
		if (strcmp(s->items.items[i]->uid, uid) == 0) {
			return s->items.items[i];
		}
	}
	return NULL;
}

json_t *store_draft(const struct stored *o)
{
	return json_deep_copy(o->value);
}

static int append_text(const char *p, size_t n, void *data)
{
	return str_append(data, p, n) ? 0 : -1;
}

char *value_text(const json_t *value)
{
	/* jansson's own strings come from its own memory; this one is anybody's. */
	struct str text = STR_INIT(TEXT_MAX);
	int result = json_dump_callback(value, append_text, &text, JSON_COMPACT);
	ENSURE(result == 0);
	return str_take(&text);
}

static void remember_past(struct store *s, const struct stored *o, enum past_type type)
{
	char *text = value_text(o->value);
	struct past p = {.version = o->version,
		.resource = o->resource,
		.type = type,
		.about = hash_bytes(o->name, strlen(o->name), (uint64_t)o->resource),
		.text = text,
		.size = strlen(text)};
	s->digest = hash_bytes(p.text, p.size, s->digest + (uint64_t)type);
	s->commits++;
	VEC_PUSH(&s->past, p);
}

static void tell_commit(struct store *s, const struct commit *c)
{
	if (s->on_commit != NULL) {
		s->on_commit(s->data, c);
	}
}

static const char *meta_text(const json_t *value, const char *key)
{
	const json_t *meta = json_object_get(value, "metadata");
	return text_or(json_string_value(json_object_get(meta, key)), "");
}

static bool read_into(struct stored *o)
{
	switch ((int)o->resource) {
	case RES_PODS:
		return facts_pod(o->value, &o->arena, &o->pod);
	case RES_NODES:
		return facts_node(o->value, &o->arena, &o->node);
	case RES_QUOTAS:
		return facts_quota(o->value, &o->arena, &o->quota);
	default:
		return true;
	}
}

/* Identity and version are the server's, whatever the writer said. */
static void stamp_object(struct store *s, json_t *value, const struct stored *before)
{
	char text[TIME_TEXT_MAX];
	json_t *meta = json_object_get(value, "metadata");
	ENSURE(json_is_object(meta));
	if (before != NULL) {
		json_object_set_new(meta, "uid", json_string(before->uid));
	} else {
		snprintf(text, sizeof text, "uid-%06llu", (unsigned long long)s->serial++);
		json_object_set_new(meta, "uid", json_string(text));
		if (json_object_get(meta, "creationTimestamp") == NULL) {
			json_object_set_new(meta, "creationTimestamp",
				json_string(time_format(store_wall(s), text)));
		}
	}
	snprintf(text, sizeof text, "%lld", (long long)s->version + 1);
	json_object_set_new(meta, "resourceVersion", json_string(text));
}

/* Equal but for the version that would be new. */
static bool value_is_same(const struct stored *before, json_t *value)
{
	json_t *meta = json_object_get(value, "metadata");
	json_object_set_new(meta, "uid", json_string(before->uid));
	json_object_set_new(
		meta, "resourceVersion", json_string(meta_text(before->value, "resourceVersion")));
	return json_equal(before->value, value) == 1;
}

struct stored *store_put(struct store *s, enum resource resource, json_t *value, int actor)
{
	struct stored *before =
		store_find(s, resource, meta_text(value, "namespace"), meta_text(value, "name"));
	if (before != NULL && value_is_same(before, value)) {
		json_decref(value);
		return before;
	}
	stamp_object(s, value, before);
	struct stored *o = xcalloc(1, sizeof *o);
	o->refs = 1;
	o->resource = resource;
	o->ns = xstrdup(meta_text(value, "namespace"));
	o->name = xstrdup(meta_text(value, "name"));
	o->uid = xstrdup(meta_text(value, "uid"));
	o->value = value;
	if (!read_into(o)) {
		stored_drop(o);
		return NULL;
	}
	o->version = ++s->version;
	o->born = before != NULL ? before->born : o->version;
	o->born_ms = before != NULL ? before->born_ms : s->agenda->now;
	size_t at = 0;
	while (at < s->items.count && s->items.items[at] != before) {
		at++;
	}
	if (before == NULL) {
		VEC_PUSH(&s->items, o);
	} else {
		s->items.items[at] = o;
	}
	enum past_type type = before == NULL ? PAST_ADDED : PAST_MODIFIED;
	remember_past(s, o, type);
	tell_commit(s, &(struct commit){actor, type, before, o});
	stored_drop(before);
	return o;
}

void store_remove(struct store *s, struct stored *o, int actor)
{
	size_t at = 0;
	while (s->items.items[at] != o) {
		at++;
	}
	memmove(&s->items.items[at], &s->items.items[at + 1],
		(s->items.count - at - 1) * sizeof *s->items.items);
	s->items.count--;
	o->version = ++s->version;
	char text[32];
	snprintf(text, sizeof text, "%lld", (long long)o->version);
	json_object_set_new(
		json_object_get(o->value, "metadata"), "resourceVersion", json_string(text));
	remember_past(s, o, PAST_DELETED);
	tell_commit(s, &(struct commit){actor, PAST_DELETED, o, NULL});
	stored_drop(o);
}

void store_compact(struct store *s)
{
	s->compacted = s->version;
	vec_for_each (struct past, p, &s->past) {
		free(p->text);
	}
	VEC_CLEAR(&s->past);
}
