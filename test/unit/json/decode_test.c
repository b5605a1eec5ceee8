/* Decoding by table: what lands where, what is said about what does not fit, and the limits. */
#include "json/decode.h"

#include <criterion/criterion.h>

struct thing {
	const char *text;
	bool flag;
	int32_t small;
	int64_t large;
	int64_t time_ms;
	int64_t length;
};

static int read_length(const json_t *value, struct arena *arena, void *field, struct fault *f)
{
	(void)arena;
	if (!json_is_string(value)) {
		return decode_mismatch(value, "word", f);
	}
	*(int64_t *)field = (int64_t)json_string_length(value);
	return 0;
}

static const struct decode_field fields[] = {
	{"a.b.text", DECODE_TEXT, false, offsetof(struct thing, text), NULL},
	{"flag", DECODE_BOOL, false, offsetof(struct thing, flag), NULL},
	{"small", DECODE_I32, false, offsetof(struct thing, small), NULL},
	{"large", DECODE_I64, false, offsetof(struct thing, large), NULL},
	{"time", DECODE_TIME, false, offsetof(struct thing, time_ms), NULL},
	{"word", DECODE_CUSTOM, true, offsetof(struct thing, length), read_length},
};

static int decode(const char *json, struct thing *t, struct arena *arena, struct fault *f)
{
	CLEANUP(decode_release) json_t *root = NULL;
	if (decode_parse(json, strlen(json), DECODE_UNIQUE, &root, f) < 0) {
		return -1;
	}
	return decode_fields(root, fields, COUNT_OF(fields), arena, t, f);
}

Test(decode, fields)
{
	struct arena arena = {0};
	struct thing t = {.small = 7};
	struct fault f = {0};
	decode_setup();
	cr_assert_eq(decode("{\"a\":{\"b\":{\"text\":\"x\\ty\"}},\"flag\":true,\"small\":null,"
			    "\"large\":-9223372036854775808,\"time\":\"1970-01-01T00:00:01.5Z\","
			    "\"word\":\"four\",\"other\":[{}]}",
			     &t, &arena, &f),
		0, "%s", f.message);
	cr_assert_str_eq(t.text, "x\ty");
	cr_assert(t.flag);
	cr_assert_eq(t.small, 7, "null is absent, absent leaves the field alone");
	cr_assert_eq(t.large, INT64_MIN);
	cr_assert_eq(t.time_ms, 1500);
	cr_assert_eq(t.length, 4);
	arena_finish(&arena);
}

static void refused(const char *json, const char *message)
{
	struct arena arena = {0};
	struct thing t = {0};
	struct fault f = {0};
	cr_assert_eq(decode(json, &t, &arena, &f), -1, "accepted: %s", json);
	cr_assert_eq(f.kind, FAULT_INVALID);
	cr_assert_str_eq(f.message, message);
	arena_finish(&arena);
}

Test(decode, what_does_not_fit_is_named)
{
	refused("{\"a\":{\"b\":{\"text\":5}}}", "a.b.text: string expected, integer found");
	refused("{\"a\":{\"b\":5}}", "a.b: object expected, integer found");
	refused("{\"a\":\"x\"}", "a: object expected, string found");
	refused("{\"flag\":\"true\"}", "flag: boolean expected, string found");
	refused("{\"small\":2147483648}", "small: 2147483648 is out of range");
	refused("{\"large\":1.0}", "large: integer expected, fraction found");
	refused("{\"time\":\"yesterday\"}", "time: RFC 3339 time expected, \"yesterday\" found");
	refused("{\"time\":5}", "time: time expected, integer found");
	refused("{\"word\":[]}", "word: word expected, array found");
	refused("{}", "word: missing");
	refused("[]", "object expected, array found");
}

static enum fault_kind parse_kind(const char *p, size_t n, unsigned flags)
{
	json_t *root = NULL;
	struct fault f = {0};
	int result = decode_parse(p, n, flags, &root, &f);
	cr_assert_eq(result == 0, root != NULL);
	json_decref(root);
	return result == 0 ? FAULT_NONE : f.kind;
}

Test(decode, parse)
{
	cr_assert_eq(parse_kind("{\"a\":1,\"a\":2}", 13, DECODE_PLAIN), FAULT_NONE);
	cr_assert_eq(parse_kind("{\"a\":1,\"a\":2}", 13, DECODE_UNIQUE), FAULT_INVALID);
	cr_assert_eq(parse_kind("{} x", 4, DECODE_PLAIN), FAULT_INVALID);
	cr_assert_eq(parse_kind("", 0, DECODE_PLAIN), FAULT_INVALID);
	cr_assert_eq(parse_kind("5", 1, DECODE_PLAIN), FAULT_INVALID);
	cr_assert_eq(parse_kind("[\"\\u0000\"]", 10, DECODE_PLAIN), FAULT_INVALID);
	cr_assert_eq(parse_kind("[\"\xff\"]", 5, DECODE_PLAIN), FAULT_INVALID);
	cr_assert_eq(parse_kind("[\"[[[[\\\"[[\"]", 12, DECODE_PLAIN), FAULT_NONE);
	struct str deep = STR_INIT(DECODE_BYTES_MAX + 1);
	for (int i = 0; i <= DECODE_DEPTH_MAX; i++) {
		str_append_char(&deep, '[');
	}
	for (int i = 0; i <= DECODE_DEPTH_MAX; i++) {
		str_append_char(&deep, ']');
	}
	cr_assert_eq(parse_kind(deep.p, deep.len, DECODE_PLAIN), FAULT_LIMIT);
	cr_assert_eq(parse_kind(deep.p + 1, deep.len - 2, DECODE_PLAIN), FAULT_NONE);
	while (str_append_char(&deep, ' ')) {
	}
	cr_assert_eq(parse_kind(deep.p, deep.len, DECODE_PLAIN), FAULT_LIMIT);
	str_finish(&deep);
}

Test(decode, u0000_of_somebody_else_can_be_read_as_another_character)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const char *json = "[\"a\\u0000b\",\"\\\\u0000\",\"\\\\\\u0000\",\"\\u00000\"]";
	struct fault f = {0};
	cr_assert_eq(parse_kind(json, strlen(json), DECODE_PLAIN), FAULT_INVALID);
	cr_assert_eq(decode_parse(json, strlen(json), DECODE_MEND, &root, &f), 0, "%s", f.message);
	cr_expect_str_eq(json_string_value(json_array_get(root, 0)), "a\xef\xbf\xbd"
								     "b");
	cr_expect_str_eq(json_string_value(json_array_get(root, 1)), "\\u0000");
	cr_expect_str_eq(json_string_value(json_array_get(root, 2)), "\\\xef\xbf\xbd");
	cr_expect_str_eq(json_string_value(json_array_get(root, 3)), "\xef\xbf\xbd"
								     "0");
	cr_expect_eq(parse_kind("[\"\\u000\"]", 9, DECODE_MEND), FAULT_INVALID);
	cr_expect_eq(parse_kind("[\"\\", 3, DECODE_MEND), FAULT_INVALID);
}

Test(decode, members)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const char *json =
		"{\"a\":{\"list\":[\"x\",\"y\"],\"map\":{},\"text\":\"t\",\"mixed\":[1]}}";
	struct arena arena = {0};
	struct fault f = {0};
	const json_t *value = NULL;
	const char *text = NULL;
	const char **texts = NULL;
	uint32_t count = 0;
	cr_assert_eq(decode_parse(json, strlen(json), DECODE_PLAIN, &root, &f), 0);
	cr_assert_eq(decode_array(root, "a.list", &value, &f), 0);
	cr_assert_eq(decode_texts(value, &arena, &texts, &count, &f), 0);
	cr_assert_eq(count, 2);
	cr_assert_str_eq(texts[1], "y");
	cr_assert_eq(decode_texts(decode_find(root, "a.mixed"), &arena, &texts, &count, &f), -1);
	cr_assert_str_eq(f.message, "[0]: string expected, integer found");
	cr_assert_eq(decode_array(root, "a.nothing.here", &value, &f), 0);
	cr_assert_null(value);
	cr_assert_eq(decode_object(root, "a.list", &value, &f), -1);
	cr_assert_str_eq(f.message, "a.list: object expected, array found");
	cr_assert_eq(decode_array(root, "a.map", &value, &f), -1);
	cr_assert_eq(decode_text(root, "a.text", &text, &f), 0);
	cr_assert_str_eq(text, "t");
	cr_assert_eq(decode_text(root, "a.text.more", &text, &f), -1);
	cr_assert_str_eq(f.message, "a.text: object expected, string found");
	arena_finish(&arena);
}

/* `{},` is 3 bytes and 230 of memory: without the bound 3 MB of pod became 230 MB. */
Test(decode, values_are_counted)
{
	static const char *const first[] = {"{}", "1.5"}; /* by the quick reader, by jansson */
	static const char *const then[] = {",{}", ",[]", ",\"\"", ",{\"a\":1}"};
	for (size_t i = 0; i < COUNT_OF(first) * COUNT_OF(then); i++) {
		CLEANUP(str_finish) struct str text = STR_INIT(DECODE_BYTES_MAX);
		str_append_format(&text, "[%s", first[i % 2]);
		for (int n = 0; n < 45000; n++) {
			str_append_text(&text, then[i / 2]);
		}
		size_t end = text.len;
		str_append_text(&text, "]");
		cr_expect_eq(parse_kind(text.p, text.len, DECODE_PLAIN), FAULT_NONE, "%zu", i);
		text.len = end;
		for (int n = 0; n < 230000; n++) {
			str_append_text(&text, then[i / 2]);
		}
		str_append_text(&text, "]");
		cr_assert_not(text.overflow);
		cr_expect_eq(parse_kind(text.p, text.len, DECODE_PLAIN), FAULT_LIMIT, "%zu", i);
	}
}
