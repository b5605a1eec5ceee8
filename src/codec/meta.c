/* The metadata of any object. */
#include "codec/meta.h"

#include "codec/parts.h"

#define BOOKMARK "metadata.annotations/k8s.io/initial-events-end"

static const struct field meta_fields[] = {
	FIELD("namespace", text, AT(meta, ns)),
	FIELD("name", text, AT(meta, name)),
	FIELD("uid", text, AT(meta, uid)),
	FIELD("resourceVersion", text, AT(meta, resource_version)),
};
static const struct shape meta_shape = {SHAPE(meta, meta_fields),
	.defaults = &(const struct meta){.ns = "", .name = "", .uid = "", .resource_version = ""}};

static int read_bookmark(const struct reading *r, void *noun)
{
	struct meta *meta = noun;
	meta->initial_events_end = text_equals(decode_find_text(r->object, BOOKMARK), "true");
	return 0;
}

static const struct field root_fields[] = {
	FIELD("metadata", object, .required = true, .inside = &meta_shape),
};
static const struct shape root_shape = {SHAPE(meta, root_fields),
	.defaults = &(const struct meta){.ns = "", .name = "", .uid = "", .resource_version = ""},
	.finish = read_bookmark};

/* What a watch reads of every kind. */
static const struct field watched_fields[] = {
	{.path = "metadata.name", .mark = META_NAME},
	{.path = "metadata.namespace", .mark = META_NAMESPACE},
	{.path = "metadata.uid", .mark = META_UID},
	{.path = "metadata.resourceVersion", .mark = META_VERSION},
	FIELD_KEPT(BOOKMARK),
};
static const struct shape watched_shape = {SHAPE(meta, watched_fields)};

const struct slice_keep *meta_projection(const struct shape *shape)
{
	return fields_projection(&watched_shape, shape);
}

int meta_decode(const char *json, size_t n, struct arena *arena, struct meta *ret_meta,
	struct fault *ret_fault)
{
	return fields_decode((struct view){json, n}, &root_shape, arena, ret_meta, ret_fault);
}

/* Nothing by which an API server calls an object needs an escape. */
static const char *text_of_mark(const struct slice *slice, enum meta_mark mark, struct arena *arena)
{
	struct view json = slice_marked(slice, (uint8_t)mark);
	if (json.n < 2 || json.p[0] != '"' || memchr(json.p, '\\', json.n) != NULL) {
		return "";
	}
	return arena_strndup(arena, json.p + 1, json.n - 2);
}

bool meta_marked(const struct slice *slice, struct arena *arena, struct meta *ret_meta)
{
	*ret_meta = (struct meta){.ns = text_of_mark(slice, META_NAMESPACE, arena),
		.name = text_of_mark(slice, META_NAME, arena),
		.uid = text_of_mark(slice, META_UID, arena),
		.resource_version = text_of_mark(slice, META_VERSION, arena)};
	return !text_empty(ret_meta->name);
}
