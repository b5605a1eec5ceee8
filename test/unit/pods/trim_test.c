/* What is dropped from a review before it is parsed. */
#include "trim.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"

static void trims(const char *before, const char *after)
{
	CLEANUP(str_finish) struct str out = STR_INIT(10000);
	cr_assert_eq(trim_review(before, strlen(before), &out), TRIM_DONE, "%s", before);
	cr_assert_str_eq(str_text(&out), after);
}

Test(trim, drops_members_by_name_and_level_and_mends_the_commas)
{
	trims("{\"request\":{\"object\":{\"status\":{\"a\":[1,\"}\"]},\"spec\":{}}}}",
		"{\"request\":{\"object\":{\"spec\":{}}}}");
	trims("{\"request\":{\"object\":{\"spec\":{},\"status\":{}}}}",
		"{\"request\":{\"object\":{\"spec\":{}}}}");
	trims("{\"request\":{\"object\":{\"spec\":{} , \"status\" : null }}}",
		"{\"request\":{\"object\":{\"spec\":{} }}}");
	trims("{\"request\":{\"options\":1,\"resource\":null}}", "{\"request\":{}}");
	trims("{\"request\":{\"a\":1,\"options\":1,\"resource\":\"x\",\"b\":2}}",
		"{\"request\":{\"a\":1,\"b\":2}}");
	trims("{\"request\":{\"object\":{\"metadata\":{\"labels\":{\"status\":\"x\",\"volumes\":"
	      "\"y\"},"
	      "\"managedFields\":[{}]}}}}",
		"{\"request\":{\"object\":{\"metadata\":{\"labels\":{\"status\":\"x\",\"volumes\":"
		"\"y\"}}}}}");
	trims("{\"request\":{\"object\":{\"spec\":{\"containers\":[{\"ports\":[1],\"name\":"
	      "\"ports\"},"
	      "{\"name\":\"b\",\"lifecycle\":{}}]}}}}",
		"{\"request\":{\"object\":{\"spec\":{\"containers\":[{\"name\":\"ports\"},{"
		"\"name\":\"b\"}]}}}}");
	trims("{\"status\":1,\"a\":\"\\\"status\\\":\"}",
		"{\"status\":1,\"a\":\"\\\"status\\\":\"}");
}

Test(trim, what_it_cannot_follow_is_left_to_the_parser)
{
	static const char *const bad[] = {"{", "}", "\"", "{\"a", "[[]",
		"{\"request\":{\"options\":", "{\"request\":{\"options\":\"\\",
		"{\"request\":{\"options\":[", "\"\\"};
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		CLEANUP(str_finish) struct str out = STR_INIT(10000);
		cr_assert_eq(trim_review(bad[i], strlen(bad[i]), &out), TRIM_BROKEN, "%s", bad[i]);
	}
}

static const char head[] = "{\"request\":{\"object\":{\"metadata\":{\"labels\":{";

/* What stands behind the limit is not even looked at, so that it need not make sense. */
static enum trim many(const char *before, const char *one, uint32_t n, const char *behind)
{
	CLEANUP(str_finish) struct str text = STR_INIT(4 << 20), out = STR_INIT(4 << 20);
	str_append_text(&text, before);
	for (uint32_t i = 0; i < n; i++) {
		str_append_text(&text, i > 0 ? "," : "");
		for (const char *c = one; *c != '\0'; c++) {
			if (*c == '#') {
				str_append_format(&text, "%u", i);
			} else {
				str_append_char(&text, *c);
			}
		}
	}
	str_append_text(&text, behind);
	cr_assert_not(text.overflow);
	return trim_review(str_text(&text), text.len, &out);
}

Test(trim, stops_where_a_review_costs_too_much)
{
	static const char spec[] = "{\"request\":{\"object\":{\"spec\":{\"containers\":[";
	static const char junk[] = ",]]]]}";
	cr_expect_eq(many(head, "\"l#\":\"\"", TRIM_WIDTH_MAX, "}}}}}"), TRIM_DONE);
	cr_expect_eq(many(head, "\"l#\":\"\"", TRIM_WIDTH_MAX + 1, junk), TRIM_TOO_LARGE);
	cr_expect_eq(many(head, "\"l#\":\"\"", 160000, junk), TRIM_TOO_LARGE);
	cr_expect_eq(many(spec, "{\"n\":#}", TRIM_LIST_MAX, "]}}}}"), TRIM_DONE);
	cr_expect_eq(many(spec, "{\"n\":#}", TRIM_LIST_MAX + 1, junk), TRIM_TOO_LARGE);
	cr_expect_eq(many(spec, "[{},{},{},[[]],[[]],{},{},{},{},{},{},{},{},{},{},#]", 120, junk),
		TRIM_TOO_LARGE, "all together count too");
	cr_expect_eq(many(spec, "[[]]", 1, "]}}}}"), TRIM_DONE);
}

Test(trim, what_is_dropped_costs_its_bytes_alone)
{
	static const char fields[] = "{\"request\":{\"object\":{\"metadata\":{\"managedFields\":[";
	cr_expect_eq(many(fields, "{\"a\":#}", 20000, "]}}}}"), TRIM_DONE);
	cr_expect_eq(many(fields, "{\"a\":#}", 100000, "]}}}}"), TRIM_TOO_LARGE);
}

static void expect_uid(const char *text, const char *uid)
{
	cr_expect(view_equals(trim_uid(text, strlen(text)), uid), "%s", text);
}

Test(trim, the_uid_is_found_without_parsing)
{
	expect_uid("{\"kind\":\"x\",\"request\":{\"uid\":\"a-1\",[[[", "a-1");
	expect_uid("{ \"request\" : { \"kind\" : {\"uid\":\"no\"} , \"uid\" : \"a\"", "a");
	expect_uid("{\"request\":{\"object\":{\"metadata\":{\"uid\":\"no\"}},\"uid\":\"a\"}}", "a");
	expect_uid("{\"response\":{\"uid\":\"no\"},\"request\":{\"uid\":\"a\"}}", "a");
	expect_uid("{\"uid\":\"no\",\"a\":[\"uid\"],\"response\":{\"uid\":\"no\"}}", "");
	expect_uid("{\"request\":{\"uid\":7", "");
	expect_uid("{\"request\":{\"uid\":\"a", "");
	expect_uid("{\"request\":{\"uid\":\"a\\n\"", "");
	expect_uid("{\"request\":{\"uid\"", "");
	expect_uid("", "");
	expect_uid("\"\\", "");
}
