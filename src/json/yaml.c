/* libyaml's events into jansson values, each with the place where it stood. */
#include "json/yaml.h"

#include <stdarg.h>
#include <yaml.h>

#include "base/str.h"

/* One open mapping or sequence. */
struct level {
	json_t *value;	 /* borrowed from its parent or the document */
	const char *key; /* mapping: read, its value is due; NULL: a key is due */
};

struct reader {
	yaml_parser_t parser;
	struct doc *doc;
	struct level levels[DOC_DEPTH_MAX];
	size_t depth;
	struct fault *fault;
};

static int yaml_fault(struct reader *r, yaml_mark_t at, const char *what)
{
	return fault_set(r->fault, FAULT_INVALID, "%s:%zu:%zu: %s", r->doc->name, at.line + 1,
		at.column + 1, what);
}

/* --- scalars --- */

static json_t *plain_value(const char *text, size_t n)
{
	struct view v = {text, n};
	int64_t whole;
	if (n == 0 || view_equals(v, "~") || view_equals(v, "null") || view_equals(v, "Null") ||
		view_equals(v, "NULL")) {
		return json_null();
	}
	if (view_equals(v, "true") || view_equals(v, "True") || view_equals(v, "TRUE")) {
		return json_true();
	}
	if (view_equals(v, "false") || view_equals(v, "False") || view_equals(v, "FALSE")) {
		return json_false();
	}
	/* A leading zero is a telephone number or an octal that someone meant: text. */
	const char *digits = text + (text[0] == '-' ? 1 : 0);
	if ((digits[0] != '0' || digits[1] == '\0') && parse_i64(v, INT64_MIN, INT64_MAX, &whole)) {
		return json_integer(whole);
	}
	return json_stringn(text, n);
}

static bool is_text_tag(const yaml_char_t *tag)
{
	const char *text = (const char *)tag;
	return strcmp(text, YAML_STR_TAG) == 0 || strcmp(text, "!") == 0;
}

static int scalar_value(struct reader *r, const yaml_event_t *e, json_t **ret_value)
{
	const char *text = (const char *)e->data.scalar.value;
	size_t n = e->data.scalar.length;
	bool plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (e->data.scalar.anchor != NULL) {
		return yaml_fault(r, e->start_mark, "anchors are not accepted");
	}
	if (e->data.scalar.tag != NULL) {
		if (!is_text_tag(e->data.scalar.tag)) {
			return yaml_fault(r, e->start_mark, "tags are not accepted");
		}
		plain = false;
	}
	json_t *value = strlen(text) != n ? NULL
			: plain		  ? plain_value(text, n)
					  : json_stringn(text, n);
	if (value == NULL) {
		return yaml_fault(r, e->start_mark, "text that is not UTF-8 or has a zero byte");
	}
	*ret_value = value;
	return 0;
}

/* --- the tree --- */

static void remember_place(struct reader *r, const struct level *l, yaml_mark_t at)
{
	struct doc_place place = {
		.parent = l != NULL ? l->value : NULL,
		.key = l != NULL ? l->key : NULL,
		.line = (uint32_t)at.line + 1,
		.column = (uint32_t)at.column + 1,
	};
	if (l != NULL && json_is_array(l->value)) {
		place.index = json_array_size(l->value);
	}
	VEC_PUSH(&r->doc->places, place);
}

/* Takes the value over. */
static void attach_value(struct reader *r, json_t *value, yaml_mark_t at)
{
	struct level *l = r->depth > 0 ? &r->levels[r->depth - 1] : NULL;
	remember_place(r, l, at);
	if (l == NULL) {
		r->doc->root = value;
	} else if (json_is_array(l->value)) {
		json_array_append_new(l->value, value);
	} else {
		json_object_set_new_nocheck(l->value, l->key, value);
		l->key = NULL;
	}
}

static int take_key(struct reader *r, struct level *l, const yaml_event_t *e)
{
	const char *text = (const char *)e->data.scalar.value;
	json_t *checked = NULL;
	if (scalar_value(r, e, &checked) < 0) {
		return -1;
	}
	bool is_text = json_is_string(checked);
	json_decref(checked);
	if (!is_text) {
		return yaml_fault(r, e->start_mark, "a key must be text (quote it)");
	}
	if (json_object_get(l->value, text) != NULL) {
		return yaml_fault(r, e->start_mark, "this key is there twice");
	}
	l->key = arena_strdup(&r->doc->arena, text);
	return 0;
}

static bool key_is_due(const struct reader *r)
{
	return r->depth > 0 && json_is_object(r->levels[r->depth - 1].value) &&
	       r->levels[r->depth - 1].key == NULL;
}

static int take_scalar(struct reader *r, const yaml_event_t *e)
{
	json_t *value = NULL;
	if (key_is_due(r)) {
		return take_key(r, &r->levels[r->depth - 1], e);
	}
	if (scalar_value(r, e, &value) < 0) {
		return -1;
	}
	attach_value(r, value, e->start_mark);
	return 0;
}

static int take_start(struct reader *r, const yaml_event_t *e)
{
	bool is_map = e->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *anchor =
		is_map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
	const yaml_char_t *tag = is_map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
	if (anchor != NULL || tag != NULL) {
		return yaml_fault(r, e->start_mark, "anchors and tags are not accepted");
	}
	if (key_is_due(r)) {
		return yaml_fault(r, e->start_mark, "a key must be text");
	}
	if (r->depth == DOC_DEPTH_MAX) {
		yaml_fault(r, e->start_mark, "nested too deeply");
		if (r->fault != NULL) {
			r->fault->kind = FAULT_LIMIT;
		}
		return -1;
	}
	json_t *value = is_map ? json_object() : json_array();
	attach_value(r, value, e->start_mark);
	r->levels[r->depth++] = (struct level){.value = value};
	return 0;
}

/* --- the document --- */

/* One event; *done after the last. */
static int take_event(struct reader *r, const yaml_event_t *e, bool *done)
{
	switch (e->type) {
	case YAML_SCALAR_EVENT:
		return take_scalar(r, e);
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		return take_start(r, e);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		r->depth--;
		return 0;
	case YAML_ALIAS_EVENT:
		return yaml_fault(r, e->start_mark, "aliases are not accepted");
	case YAML_DOCUMENT_START_EVENT:
		return r->doc->places.count == 0
			       ? 0
			       : yaml_fault(r, e->start_mark, "a second document is not accepted");
	case YAML_STREAM_END_EVENT:
		*done = true;
		return 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

static int read_events(struct reader *r)
{
	bool done = false;
	while (!done) {
		yaml_event_t event;
		if (!yaml_parser_parse(&r->parser, &event)) {
			return yaml_fault(r, r->parser.problem_mark,
				r->parser.problem != NULL ? r->parser.problem : "not YAML");
		}
		int result = take_event(r, &event, &done);
		yaml_event_delete(&event);
		if (result < 0) {
			return -1;
		}
	}
	return 0;
}

int doc_parse(
	const char *text, size_t n, const char *name, struct doc *ret_doc, struct fault *ret_fault)
{
	struct doc doc = {0};
	struct reader r = {.doc = &doc, .fault = ret_fault};
	if (n > DOC_BYTES_MAX) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "%s: more than %zu bytes", name, DOC_BYTES_MAX);
	}
	doc.name = arena_strdup(&doc.arena, name);
	ENSURE(yaml_parser_initialize(&r.parser));
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, n);
	int result = read_events(&r);
	yaml_parser_delete(&r.parser);
	if (result < 0) {
		doc_finish(&doc);
		return -1;
	}
	*ret_doc = doc;
	return 0;
}

void doc_finish(struct doc *d)
{
	json_decref(d->root);
	VEC_FINISH(&d->places);
	arena_finish(&d->arena);
	*d = (struct doc){0};
}

/* --- places --- */

static const struct doc_place *place_of(
	const struct doc *d, const json_t *parent, const char *key, size_t index)
{
	vec_for_each (struct doc_place, p, &d->places) {
		if (p->parent == parent && p->index == index && text_equals(p->key, key)) {
			return p;
		}
	}
	return NULL;
}

/* Where a container itself stood: remembered as a member of its own parent. */
static const struct doc_place *place_of_container(const struct doc *d, const json_t *container)
{
	vec_for_each (struct doc_place, p, &d->places) {
		const json_t *value = d->root;
		if (p->parent != NULL) {
			value = p->key != NULL ? json_object_get(p->parent, p->key)
					       : json_array_get(p->parent, p->index);
		}
		if (value == container) {
			return p;
		}
	}
	return NULL;
}

static int PRINTF(4, 0) fault_at(const struct doc *d, const struct doc_place *p,
	struct fault *ret_fault, const char *format, va_list args)
{
	char message[FAULT_MESSAGE_MAX];
	vsnprintf(message, sizeof message, format, args);
	return fault_set(ret_fault, FAULT_INVALID, "%s:%u:%u: %s", text_or(d->name, "?"),
		p != NULL ? p->line : 1, p != NULL ? p->column : 1, message);
}

int doc_fault(const struct doc *d, const json_t *parent, const char *key, struct fault *ret_fault,
	const char *format, ...)
{
	const struct doc_place *p = key != NULL ? place_of(d, parent, key, 0) : NULL;
	va_list args;
	va_start(args, format);
	int result =
		fault_at(d, p != NULL ? p : place_of_container(d, parent), ret_fault, format, args);
	va_end(args);
	return result;
}

int doc_fault_item(const struct doc *d, const json_t *array, size_t index, struct fault *ret_fault,
	const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int result = fault_at(d, place_of(d, array, NULL, index), ret_fault, format, args);
	va_end(args);
	return result;
}
