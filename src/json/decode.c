/* Bytes to jansson values under limits, and members of values by their paths. */
#include "json/decode.h"

#include "parse.h"
#include "block_pool.h"

void decode_setup(void)
{
#ifdef __SANITIZE_ADDRESS__
	/* The sanitizer sees a mistake only where every value is its own allocation. */
	json_set_alloc_funcs(xmalloc, free);
#else
	json_set_alloc_funcs(pool_jansson_alloc, pool_jansson_free);
#endif
}

/* jansson recurses once a level and has a bound of its own that is far above ours, and none on what
 * its values take. */
static int check_bounds(const char *p, size_t n, struct fault *ret_fault)
{
	size_t depth = 0;
	size_t cost = 0;
	bool in_string = false;
	for (size_t i = 0; i < n; i++) {
		char c = p[i];
		if (in_string) {
			i += c == '\\' ? 1 : 0;
			in_string = c != '"';
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			depth++;
			cost += DECODE_COST_CONTAINER;
		} else if ((c == '}' || c == ']') && depth > 0) {
			depth--;
		} else if (c == ',') {
			cost++;
		}
		if (depth > DECODE_DEPTH_MAX) {
			return fault_set(ret_fault, FAULT_LIMIT, "JSON deeper than %d levels",
				DECODE_DEPTH_MAX);
		}
		if (cost > DECODE_COST_MAX) {
			return fault_set(ret_fault, FAULT_LIMIT, "JSON of too many values");
		}
	}
	return 0;
}

/* The same text without U+0000, NULL where there is none. A backslash is nowhere but in strings. */
static char *mend_nul_escapes(const char *p, size_t n)
{
	char *copy = NULL;
	for (size_t i = 0; i + 1 < n; i++) {
		if (p[i] != '\\') {
			continue;
		}
		if (n - i >= 6 && memcmp(p + i, "\\u0000", 6) == 0) {
			copy = copy != NULL ? copy : xstrndup(p, n);
			memcpy(copy + i, "\\ufffd", 6);
		}
		i++;
	}
	return copy;
}

int decode_parse(
	const char *p, size_t n, unsigned flags, json_t **ret_root, struct fault *ret_fault)
{
	if (n > DECODE_BYTES_MAX) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "JSON of more than %zu bytes", DECODE_BYTES_MAX);
	}
	bool unique = (flags & DECODE_UNIQUE) != 0;
	json_t *root = parse_quickly(p, n, DECODE_DEPTH_MAX, unique);
	if (root != NULL) {
		*ret_root = root;
		return 0;
	}
	if (check_bounds(p, n, ret_fault) < 0) {
		return -1;
	}
	json_error_t error;
	CLEANUP(cleanup_free)
	char *mended = (flags & DECODE_MEND) != 0 ? mend_nul_escapes(p, n) : NULL;
	root = json_loadb(
		mended != NULL ? mended : p, n, unique ? JSON_REJECT_DUPLICATES : 0, &error);
	if (root == NULL) {
		return fault_set(ret_fault, FAULT_INVALID, "malformed JSON: line %d column %d: %s",
			error.line, error.column, error.text);
	}
	*ret_root = root;
	return 0;
}

static const char *const type_names[] = {[JSON_OBJECT] = "object",
	[JSON_ARRAY] = "array",
	[JSON_STRING] = "string",
	[JSON_INTEGER] = "integer",
	[JSON_REAL] = "fraction",
	[JSON_TRUE] = "boolean",
	[JSON_FALSE] = "boolean",
	[JSON_NULL] = "null"};

int decode_mismatch(const json_t *value, const char *expected, struct fault *ret_fault)
{
	return fault_set(ret_fault, FAULT_INVALID, "%s expected, %s found", expected,
		value != NULL ? type_names[json_typeof(value)] : "nothing");
}

/* The member at `path`. What stands in its way (a text where an object should be) comes back in
 * *ret_blocker, with how much of the path led there. */
static const json_t *walk_path(
	const json_t *object, const char *path, const json_t **ret_blocker, size_t *ret_length)
{
	const char *from = path;
	bool last = false;
	while (object != NULL && !json_is_null(object)) {
		if (!json_is_object(object)) {
			*ret_blocker = object;
			*ret_length = from > path ? (size_t)(from - path - 1) : 0;
			return NULL;
		}
		size_t n = last ? strlen(from) : strcspn(from, "./");
		object = json_object_getn(object, from, n);
		if (from[n] == '\0') {
			return json_is_null(object) ? NULL : object;
		}
		last = from[n] == '/';
		from += n + 1;
	}
	return NULL;
}

int decode_member(
	const json_t *object, const char *path, const json_t **ret_value, struct fault *ret_fault)
{
	const json_t *blocker = NULL;
	size_t n = 0;
	const json_t *value = walk_path(object, path, &blocker, &n);
	if (blocker != NULL) {
		decode_mismatch(blocker, "object", ret_fault);
		return n > 0 ? fault_wrap(ret_fault, "%.*s", (int)n, path) : -1;
	}
	*ret_value = value;
	return 0;
}

const json_t *decode_find(const json_t *object, const char *path)
{
	const json_t *blocker = NULL;
	size_t n = 0;
	return walk_path(object, path, &blocker, &n);
}

const char *decode_find_text(const json_t *object, const char *path)
{
	return json_string_value(decode_find(object, path));
}

static int member_of_type(const json_t *object, const char *path, json_type type,
	const json_t **ret_value, struct fault *ret_fault)
{
	const json_t *value = NULL;
	if (decode_member(object, path, &value, ret_fault) < 0) {
		return -1;
	}
	if (value != NULL && json_typeof(value) != type) {
		decode_mismatch(value, type_names[type], ret_fault);
		return fault_wrap(ret_fault, "%s", path);
	}
	*ret_value = value;
	return 0;
}

int decode_array(
	const json_t *object, const char *path, const json_t **ret_value, struct fault *ret_fault)
{
	return member_of_type(object, path, JSON_ARRAY, ret_value, ret_fault);
}

int decode_object(
	const json_t *object, const char *path, const json_t **ret_value, struct fault *ret_fault)
{
	return member_of_type(object, path, JSON_OBJECT, ret_value, ret_fault);
}

int decode_text(
	const json_t *object, const char *path, const char **ret_text, struct fault *ret_fault)
{
	const json_t *value = NULL;
	if (member_of_type(object, path, JSON_STRING, &value, ret_fault) < 0) {
		return -1;
	}
	*ret_text = json_string_value(value);
	return 0;
}

int decode_texts(const json_t *array, struct arena *arena, const char ***ret_items,
	uint32_t *ret_count, struct fault *ret_fault)
{
	size_t count = array != NULL ? json_array_size(array) : 0;
	const char **items = count > 0 ? ARENA_ARRAY(arena, const char *, count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_array_get(array, i);
		if (!json_is_string(value)) {
			decode_mismatch(value, "string", ret_fault);
			return fault_wrap(ret_fault, "[%zu]", i);
		}
		items[i] =
			arena_strndup(arena, json_string_value(value), json_string_length(value));
	}
	*ret_items = items;
	*ret_count = (uint32_t)count;
	return 0;
}
