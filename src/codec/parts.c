/* Readers that several kinds share. */
#include "codec/parts.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/str.h"
#include "json/decode.h"
#include "model/quantity.h"

/* Kubernetes writes quantities as text; a bare whole number means the same. */
static int quantity_text(
	const json_t *value, char buffer[24], struct view *ret_text, struct fault *ret_fault)
{
	if (json_is_string(value)) {
		*ret_text = (struct view){json_string_value(value), json_string_length(value)};
		return 0;
	}
	if (json_is_integer(value)) {
		snprintf(buffer, 24, "%lld", (long long)json_integer_value(value));
		*ret_text = view_of(buffer);
		return 0;
	}
	return decode_mismatch(value, "quantity", ret_fault);
}

int parts_read_milli(const json_t *value, int64_t *ret_milli, struct fault *ret_fault)
{
	char buffer[24];
	struct view text;
	return quantity_text(value, buffer, &text, ret_fault) < 0
		       ? -1
		       : quantity_milli(text, ret_milli, ret_fault);
}

int parts_read_units(const json_t *value, int64_t *ret_units, struct fault *ret_fault)
{
	char buffer[24];
	struct view text;
	return quantity_text(value, buffer, &text, ret_fault) < 0
		       ? -1
		       : quantity_units(text, ret_units, ret_fault);
}

bool parts_is_whole(const json_t *value)
{
	char buffer[24];
	struct view text;
	return quantity_text(value, buffer, &text, NULL) == 0 && quantity_is_whole(text);
}

static int read_milli(const struct reading *r, const json_t *value, void *to)
{
	return parts_read_milli(value, to, r->fault);
}

static int read_units(const struct reading *r, const json_t *value, void *to)
{
	return parts_read_units(value, to, r->fault);
}

static int read_memory(const struct reading *r, const json_t *value, void *to)
{
	int64_t *mib = to;
	if (!json_is_string(value)) {
		return decode_mismatch(value, "quantity", r->fault);
	}
	struct view text = {json_string_value(value), json_string_length(value)};
	return memory_parse(text, mib, r->fault) < 0 ? -1
						     : fields_in_range(r->field, *mib, r->fault);
}

const struct field_kind field_milli = {.read = read_milli};
const struct field_kind field_units = {.read = read_units};
static void write_memory(struct build *b, const struct field *f, const void *from)
{
	char text[QUANTITY_TEXT_MAX];
	(void)f;
	build_text(b, memory_format(*(const int64_t *)from, text));
}

static bool is_no_memory(const struct field *f, const void *from)
{
	(void)f;
	return *(const int64_t *)from <= 0;
}

const struct field_kind field_memory = {
	.read = read_memory, .write = write_memory, .is_empty = is_no_memory};

bool parts_is_name(const char *text)
{
	size_t n = text != NULL ? strnlen(text, PARTS_NAME_MAX + 1) : 0;
	return n > 0 && n <= PARTS_NAME_MAX && strpbrk(text, "/%") == NULL &&
	       strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

/* --- pairs --- */

static bool is_wanted(const char *key, const char *const *keys)
{
	for (; keys != NULL && *keys != NULL; keys++) {
		size_t n = strlen(*keys);
		bool prefix = n > 0 && (*keys)[n - 1] == '*';
		if (strncmp(key, *keys, prefix ? n - 1 : n + 1) == 0) {
			return true;
		}
	}
	return keys == NULL;
}

int parts_read_pairs(const json_t *object, const char *const *keys, struct arena *arena,
	struct pairs *ret_pairs, struct fault *ret_fault)
{
	struct pairs pairs = {0};
	size_t room = object != NULL ? json_object_size(object) : 0;
	if (room > 0) {
		pairs.items = ARENA_ARRAY(arena, struct pair, room);
	}
	/* jansson's iteration takes a pointer that it does not write through. */
	json_t *all = (json_t *)object;
	const char *key;
	json_t *value;
	if (is_wanted("", keys)) {
		keys = NULL;
	}
	json_object_foreach(all, key, value)
	{
		if (!is_wanted(key, keys)) {
			continue;
		}
		if (!json_is_string(value)) {
			decode_mismatch(value, "string", ret_fault);
			return fault_wrap(ret_fault, "%.200s", key);
		}
		pairs.items[pairs.count++] = (struct pair){
			.key = arena_strdup(arena, key),
			.value = arena_strndup(
				arena, json_string_value(value), json_string_length(value)),
		};
	}
	pairs_sort(&pairs);
	*ret_pairs = pairs;
	return 0;
}

static int read_pairs(const struct reading *r, const json_t *value, void *to)
{
	return json_is_object(value)
		       ? parts_read_pairs(value, r->field->keys, r->arena, to, r->fault)
		       : decode_mismatch(value, "object", r->fault);
}

const struct field_kind field_pairs = {.read = read_pairs};

/* --- terms --- */

/* Which of the values is wrong is said without the name of their list. */
static int read_values(const struct reading *r, const json_t *value, void *to)
{
	struct term *t = to;
	if (!json_is_array(value)) {
		decode_mismatch(value, "array", r->fault);
		return fault_wrap(r->fault, "%s", r->field->path);
	}
	return decode_texts(value, r->arena, &t->values, &t->value_count, r->fault);
}

static void write_values(struct build *b, const struct field *f, const void *from)
{
	const struct term *t = from;
	(void)f;
	build_begin_array(b);
	for (uint32_t i = 0; i < t->value_count; i++) {
		build_text(b, t->values[i]);
	}
	build_end(b);
}

static bool has_no_values(const struct field *f, const void *from)
{
	(void)f;
	return ((const struct term *)from)->value_count == 0;
}

static const struct field_kind field_values = {
	.read = read_values, .write = write_values, .is_empty = has_no_values, .names_path = true};

static const char *const operators[] = {
	[TERM_IN] = "In",
	[TERM_NOT_IN] = "NotIn",
	[TERM_EXISTS] = "Exists",
	[TERM_DOES_NOT_EXIST] = "DoesNotExist",
	[TERM_GT] = "Gt",
	[TERM_LT] = "Lt",
	NULL,
};
static const struct field term_fields[] = {
	FIELD("key", text, AT(term, key), .required = true),
	FIELD("operator", word, AT(term, operator), .required = true, .words = operators),
	FIELD("values", values, .at = 0),
};
static const struct shape term_shape = {SHAPE(term, term_fields)};

static const struct field scope_fields[] = {
	FIELD("scopeName", text, AT(term, key), .required = true),
	FIELD("operator", word, AT(term, operator), .required = true, .words = operators),
	FIELD("values", values, .at = 0),
};
const struct shape parts_scope_shape = {SHAPE(term, scope_fields)};

static const struct field node_term_fields[] = {
	FIELD("matchExpressions", rows, AT(node_term, labels.items),
		COUNT_AT(node_term, labels.count), .inside = &term_shape),
	FIELD("matchFields", rows, AT(node_term, fields.items), COUNT_AT(node_term, fields.count),
		.inside = &term_shape),
};
const struct shape parts_node_term_shape = {SHAPE(node_term, node_term_fields)};

static const struct field selector_fields[] = {
	FIELD("matchLabels", pairs, AT(selector, match_labels)),
	FIELD("matchExpressions", rows, AT(selector, expressions.items),
		COUNT_AT(selector, expressions.count), .inside = &term_shape),
};
static const struct shape selector_shape = {SHAPE(selector, selector_fields)};

int parts_read_selector(const json_t *object, struct arena *arena, struct selector *ret_selector,
	struct fault *ret_fault)
{
	*ret_selector = (struct selector){.present = object != NULL};
	return object == NULL
		       ? 0
		       : fields_read(object, &selector_shape, arena, ret_selector, ret_fault);
}

static int read_selector(const struct reading *r, const json_t *value, void *to)
{
	return parts_read_selector(value, r->arena, to, r->fault);
}

const struct field_kind field_selector = {.read = read_selector};

/* --- base64 --- */

static int read_base64(const struct reading *r, const json_t *value, void *to)
{
	CLEANUP(str_wipe) struct str text = STR_INIT((size_t)r->field->max);
	struct view coded = {json_string_value(value), json_string_length(value)};
	if (coded.p == NULL) {
		return 0;
	}
	(void)str_reserve(&text, coded.n / 4 * 3);
	if (base64_decode(coded, &text) && text.len > 0 &&
		memchr(str_text(&text), '\0', text.len) == NULL) {
		*(const char **)to = arena_strndup(r->arena, str_text(&text), text.len);
	}
	return 0;
}

static void write_base64(struct build *b, const struct field *f, const void *from)
{
	CLEANUP(str_wipe) struct str coded = STR_INIT((size_t)f->max * 2);
	const char *text = *(const char *const *)from;
	if (text == NULL) {
		build_null(b);
		return;
	}
	if (!base64_encode(text, strlen(text), &coded)) {
		b->out->overflow = true;
	}
	build_text(b, str_text(&coded));
}

const struct field_kind field_base64 = {
	.read = read_base64, .write = write_base64, .lenient = true};

/* --- owners --- */

static const struct field owner_fields[] = {
	FIELD("apiVersion", text, AT(owner, api_version), .required = true, .always = true),
	FIELD("kind", text, AT(owner, kind), .required = true, .always = true),
	FIELD("name", text, AT(owner, name), .required = true, .always = true),
	FIELD("uid", text, AT(owner, uid), .always = true),
};
const struct shape parts_owner_shape = {SHAPE(owner, owner_fields)};

void parts_write_owner(struct build *b, const struct owner *owner)
{
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	fields_write(b, &parts_owner_shape, "", owner);
	build_end(b);
	build_end(b);
}

/* --- texts of ours --- */

static int parse_versioned(
	const char *text, size_t limit, json_t **ret_root, struct fault *ret_fault)
{
	const char *given = text_or(text, "");
	size_t n = strnlen(given, limit + 1);
	if (n > limit) {
		return fault_set(ret_fault, FAULT_INVALID, "more than %zu bytes", limit);
	}
	if (decode_parse(given, n, DECODE_UNIQUE, ret_root, ret_fault) < 0) {
		return -1;
	}
	const json_t *version = decode_find(*ret_root, "v");
	if (!json_is_integer(version) || json_integer_value(version) != PARTS_TEXT_VERSION) {
		return fault_set(
			ret_fault, FAULT_INVALID, "v: version %d expected", PARTS_TEXT_VERSION);
	}
	return 0;
}

int parts_read_text(const char *text, const struct shape *shape, struct arena *arena, void *noun,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	return parse_versioned(text, shape->limit, &root, ret_fault) < 0
		       ? fault_wrap(ret_fault, "%s", shape->called)
		       : fields_fill(root, shape, arena, noun, ret_fault);
}

bool parts_write_text(struct str *out, const struct shape *shape, const void *noun, const char *by)
{
	struct build b = build_into(out);
	build_begin_object(&b);
	build_i64_at(&b, "v", PARTS_TEXT_VERSION);
	if (by != NULL) {
		build_text_at(&b, "by", by);
	}
	fields_write(&b, shape, "", noun);
	build_end(&b);
	return build_ok(&b);
}
