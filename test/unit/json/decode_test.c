/* Bytes to values: members by their paths, and the limits. */
#include "json/decode.h"

#include <criterion/criterion.h>

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
