/* The quick reader: it reads what the API server writes, equals jansson in what it reads, and
 * leaves everything else to jansson. */
#include "parse.h"

#include <criterion/criterion.h>

#include "base/alloc.h"

static const char *const ordinary[] = {
	"{}",
	" [ ] ",
	"{\"a\":1,\"b\":[true,false,null,-5,0,123456789012345678],\"c\":{\"d\":\"\"}}\r\n\t",
	"[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u20AC\\u007f\",\"x\\u003cy\"]",
	"{\"k:{\\\"uid\\\":\\\"x\\\"}\":{\"\\u00e9\":1},\"\xc3\xa9\":\"\xe2\x82\xac "
	"\xf0\x9f\x98\x80\"}",
	"{\"a\":1,\"a\":2,\"b\":3}",
	"[-0]",
	"{\"a\" : [ 1 , { } ] , \"b\" : \"c\" }",
};

static const char *const unusual[] = {
	"",
	" ",
	"5",
	"\"x\"",
	"{",
	"[1",
	"[1,]",
	"[,1]",
	"{,}",
	"{\"a\"}",
	"{\"a\":}",
	"{\"a\":1,}",
	"{\"a\" 1}",
	"{a:1}",
	"[1 2]",
	"[] x",
	"[]]",
	"[01]",
	"[-]",
	"[+1]",
	"[1.5]",
	"[1e3]",
	"[1234567890123456789]",
	"[99999999999999999999]",
	"[tru]",
	"[nul",
	"[\"a\nb\"]",
	"[\"\\u0000\"]",
	"[\"\\ud83d\\ude00\"]",
	"[\"\\ud83d\"]",
	"[\"\\u12\"]",
	"[\"\\x\"]",
	"[\"abc",
	"[\"abc\\",
	"[\"\xff\"]",
	"{\"\xc0\x80\":1}",
	"[\"\xed\xa0\x80\"]",
	"[}",
	"{]",
};

static char *dumped(json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);
	json_decref(value);
	return text;
}

Test(parse, equals_jansson_in_what_it_reads)
{
	for (size_t i = 0; i < COUNT_OF(ordinary); i++) {
		json_t *quick = parse_quickly(ordinary[i], strlen(ordinary[i]), 64, false);
		json_t *slow = json_loads(ordinary[i], 0, NULL);
		cr_assert_not_null(quick, "not read: %s", ordinary[i]);
		cr_assert(json_equal(quick, slow), "%s", ordinary[i]);
		CLEANUP(cleanup_free) char *a = dumped(quick);
		CLEANUP(cleanup_free) char *b = dumped(slow);
		cr_assert_str_eq(a, b);
	}
}

Test(parse, leaves_the_rest_alone)
{
	for (size_t i = 0; i < COUNT_OF(unusual); i++) {
		/* Exactly as many bytes as there are. */
		char *text = xmemdup(unusual[i], strlen(unusual[i]));
		json_t *quick = parse_quickly(text, strlen(unusual[i]), 64, false);
		cr_assert_null(quick, "read: %s", unusual[i]);
		free(text);
	}
}

Test(parse, every_cut_of_a_text_is_unusual)
{
	const char *whole = ordinary[2];
	size_t n = strlen(whole) - 3; /* without the blanks at the end */
	for (size_t i = 0; i < n; i++) {
		char *text = xmemdup(whole, i);
		cr_assert_null(parse_quickly(text, i, 64, false), "%zu bytes", i);
		free(text);
	}
}

Test(parse, depth_and_duplicates)
{
	json_t *value = parse_quickly("[[[]]]", 6, 3, false);
	cr_assert_not_null(value);
	json_decref(value);
	cr_assert_null(parse_quickly("[[[]]]", 6, 2, false));
	value = parse_quickly("[[],[],{}]", 10, 2, false);
	cr_assert_not_null(value, "depth is given back");
	json_decref(value);
	cr_assert_null(parse_quickly("{\"a\":1,\"\\u0061\":2}", 18, 64, true));
	value = parse_quickly("{\"a\":{\"a\":1},\"b\":2}", 19, 64, true);
	cr_assert_not_null(value);
	json_decref(value);
}
