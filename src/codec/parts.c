/* Readers that several kinds share. */
#include "parts.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
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

int parts_read_milli(const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	char buffer[24];
	struct view text;
	(void)arena;
	if (quantity_text(value, buffer, &text, ret_fault) < 0) {
		return -1;
	}
	return quantity_milli(text, field, ret_fault);
}

bool parts_is_whole(const json_t *value)
{
	char buffer[24];
	struct view text;
	return quantity_text(value, buffer, &text, NULL) == 0 && quantity_is_whole(text);
}

int parts_read_units(const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	char buffer[24];
	struct view text;
	(void)arena;
	if (quantity_text(value, buffer, &text, ret_fault) < 0) {
		return -1;
	}
	return quantity_units(text, field, ret_fault);
}

bool parts_is_name(const char *text)
{
	size_t n = text != NULL ? strnlen(text, PARTS_NAME_MAX + 1) : 0;
	return n > 0 && n <= PARTS_NAME_MAX && strpbrk(text, "/%") == NULL &&
	       strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static bool begins_with_any(const char *key, const char *const *prefixes)
{
	for (; prefixes != NULL && *prefixes != NULL; prefixes++) {
		if (strncmp(key, *prefixes, strlen(*prefixes)) == 0) {
			return true;
		}
	}
	return prefixes == NULL;
}

int parts_read_pairs(const json_t *object, const char *const *prefixes, struct arena *arena,
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
	json_object_foreach(all, key, value)
	{
		if (!begins_with_any(key, prefixes)) {
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

int parts_read_word(const json_t *value, const char *const *words, size_t count,
	size_t *ret_position, struct fault *ret_fault)
{
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", ret_fault);
	}
	for (size_t i = 0; i < count; i++) {
		if (strcmp(json_string_value(value), words[i]) == 0) {
			*ret_position = i;
			return 0;
		}
	}
	return fault_set(
		ret_fault, FAULT_INVALID, "\"%.60s\" is not known here", json_string_value(value));
}

static int read_operator(
	const json_t *value, struct arena *arena, void *field, struct fault *ret_fault)
{
	static const char *const words[] = {
		[TERM_IN] = "In",
		[TERM_NOT_IN] = "NotIn",
		[TERM_EXISTS] = "Exists",
		[TERM_DOES_NOT_EXIST] = "DoesNotExist",
		[TERM_GT] = "Gt",
		[TERM_LT] = "Lt",
	};
	size_t position = 0;
	(void)arena;
	if (parts_read_word(value, words, COUNT_OF(words), &position, ret_fault) < 0) {
		return -1;
	}
	*(enum term_operator *)field = (enum term_operator)position;
	return 0;
}

int parts_read_term(const json_t *object, const char *key, struct arena *arena,
	struct term *ret_term, struct fault *ret_fault)
{
	const struct decode_field fields[] = {
		{key, DECODE_TEXT, true, offsetof(struct term, key), NULL},
		{"operator", DECODE_CUSTOM, true, offsetof(struct term, operator), read_operator},
	};
	const json_t *values = NULL;
	if (decode_fields(object, fields, COUNT_OF(fields), arena, ret_term, ret_fault) < 0 ||
		decode_array(object, "values", &values, ret_fault) < 0) {
		return -1;
	}
	return decode_texts(values, arena, &ret_term->values, &ret_term->value_count, ret_fault);
}

int parts_read_terms(
	const json_t *array, struct arena *arena, struct terms *ret_terms, struct fault *ret_fault)
{
	struct terms terms = {0};
	size_t count = array != NULL ? json_array_size(array) : 0;
	if (count > 0) {
		terms.items = ARENA_ARRAY(arena, struct term, count);
	}
	for (size_t i = 0; i < count; i++) {
		struct term *t = &terms.items[terms.count++];
		if (parts_read_term(json_array_get(array, i), "key", arena, t, ret_fault) < 0) {
			return fault_wrap(ret_fault, "[%zu]", i);
		}
	}
	*ret_terms = terms;
	return 0;
}

static int read_node_term(
	const json_t *object, struct arena *arena, struct node_term *t, struct fault *ret_fault)
{
	const json_t *labels = NULL;
	const json_t *fields = NULL;
	if (decode_array(object, "matchExpressions", &labels, ret_fault) < 0 ||
		decode_array(object, "matchFields", &fields, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_terms(labels, arena, &t->labels, ret_fault) < 0) {
		return fault_wrap(ret_fault, "matchExpressions");
	}
	if (parts_read_terms(fields, arena, &t->fields, ret_fault) < 0) {
		return fault_wrap(ret_fault, "matchFields");
	}
	return 0;
}

int parts_read_node_terms(const json_t *array, struct arena *arena, struct node_term **ret_terms,
	uint32_t *ret_count, struct fault *ret_fault)
{
	size_t count = array != NULL ? json_array_size(array) : 0;
	struct node_term *terms = count > 0 ? ARENA_ARRAY(arena, struct node_term, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (read_node_term(json_array_get(array, i), arena, &terms[i], ret_fault) < 0) {
			return fault_wrap(ret_fault, "[%zu]", i);
		}
	}
	*ret_terms = terms;
	*ret_count = (uint32_t)count;
	return 0;
}

int parts_read_selector(const json_t *object, struct arena *arena, struct selector *ret_selector,
	struct fault *ret_fault)
{
	struct selector selector = {.present = object != NULL};
	const json_t *labels = NULL;
	const json_t *expressions = NULL;
	if (object == NULL) {
		*ret_selector = selector;
		return 0;
	}
	if (decode_object(object, "matchLabels", &labels, ret_fault) < 0 ||
		decode_array(object, "matchExpressions", &expressions, ret_fault) < 0) {
		return -1;
	}
	if (parts_read_pairs(labels, NULL, arena, &selector.match_labels, ret_fault) < 0) {
		return fault_wrap(ret_fault, "matchLabels");
	}
	if (parts_read_terms(expressions, arena, &selector.expressions, ret_fault) < 0) {
		return fault_wrap(ret_fault, "matchExpressions");
	}
	*ret_selector = selector;
	return 0;
}

int parts_read_text(const char *text, size_t limit, json_t **ret_root, struct fault *ret_fault)
{
	const char *given = text_or(text, "");
	size_t n = strnlen(given, limit + 1);
	if (n > limit) {
		return fault_set(ret_fault, FAULT_INVALID, "more than %zu bytes", limit);
	}
	json_t *root = NULL;
	if (decode_parse(given, n, DECODE_UNIQUE, &root, ret_fault) < 0) {
		return -1;
	}
	const json_t *version = decode_find(root, "v");
	if (!json_is_integer(version) || json_integer_value(version) != PARTS_TEXT_VERSION) {
		json_decref(root);
		return fault_set(
			ret_fault, FAULT_INVALID, "v: version %d expected", PARTS_TEXT_VERSION);
	}
	*ret_root = root;
	return 0;
}
