/* RFC 6902 as the API server applies it, as far as we write it: add, remove, replace. Anything that
 * does not fit the document fails the test. */
#ifndef TEST_JSON_PATCH_H
#define TEST_JSON_PATCH_H

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Unescapes one token of the pointer into buffer and moves on. */
static inline const char *pointer_token(const char *at, char *buffer, size_t size)
{
	size_t n = 0;
	for (at++; *at != '\0' && *at != '/'; at++) {
		cr_assert_lt(n + 1, size);
		if (*at == '~') {
			at++;
			cr_assert(*at == '0' || *at == '1');
			buffer[n++] = *at == '0' ? '~' : '/';
		} else {
			buffer[n++] = *at;
		}
	}
	buffer[n] = '\0';
	return at;
}

static inline void patch_array(json_t *parent, const char *key, const char *op, json_t *value)
{
	char *end;
	size_t i = strtoul(key, &end, 10);
	cr_assert(*end == '\0' && end != key, "index %s", key);
	if (strcmp(op, "add") == 0) {
		cr_assert_leq(i, json_array_size(parent), "add at %s", key);
		cr_assert_eq(json_array_insert(parent, i, value), 0);
		return;
	}
	cr_assert_lt(i, json_array_size(parent), "%s at %s", op, key);
	if (strcmp(op, "remove") == 0) {
		json_array_remove(parent, i);
	} else {
		json_array_set(parent, i, value);
	}
}

static inline void patch_one(json_t *root, const json_t *operation)
{
	const char *op = json_string_value(json_object_get(operation, "op"));
	const char *at = json_string_value(json_object_get(operation, "path"));
	json_t *value = json_object_get(operation, "value");
	json_t *parent = root;
	char key[512];
	cr_assert_eq(*at, '/', "path %s", at);
	at = pointer_token(at, key, sizeof key);
	while (*at == '/') {
		parent = json_is_array(parent) ? json_array_get(parent, strtoul(key, NULL, 10))
					       : json_object_get(parent, key);
		cr_assert_not_null(parent, "no parent at %s", key);
		at = pointer_token(at, key, sizeof key);
	}
	if (json_is_array(parent)) {
		patch_array(parent, key, op, value);
		return;
	}
	cr_assert(json_is_object(parent));
	if (strcmp(op, "add") != 0) {
		cr_assert_not_null(json_object_get(parent, key), "%s of absent %s", op, key);
	}
	if (strcmp(op, "remove") == 0) {
		json_object_del(parent, key);
	} else {
		cr_assert_not_null(value);
		json_object_set(parent, key, value);
	}
}

/* A new value: the document with the patch applied. */
static inline json_t *patched(const json_t *document, const json_t *patch)
{
	json_t *copy = json_deep_copy(document);
	for (size_t i = 0; i < json_array_size(patch); i++) {
		patch_one(copy, json_array_get(patch, i));
	}
	return copy;
}

#endif
