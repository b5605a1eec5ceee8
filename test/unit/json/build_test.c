/* The writer: commas, escapes, and a limit that shows. */
#include "json/build.h"

#include <criterion/criterion.h>

static void write_all(struct build *b)
{
	build_begin_object(b);
	build_text_at(b, "a\"\n", "\xc3\xa9\\\x01\xff");
	build_i64_at(b, "min", INT64_MIN);
	build_bool_at(b, "yes", true);
	build_text_at(b, "none", NULL);
	build_object_at(b, "empty");
	build_end(b);
	build_array_at(b, "list");
	build_i64(b, 1);
	build_begin_object(b);
	build_end(b);
	build_begin_array(b);
	build_bool(b, false);
	build_null(b);
	build_end(b);
	build_view(b, VIEW("v"));
	build_raw(b, "{\"r\":1}", 7);
	build_end(b);
	build_key_view(b, VIEW("last"));
	build_text(b, "");
	build_end(b);
}

Test(build, everything)
{
	struct str out = STR_INIT(1000);
	struct build b = build_into(&out);
	write_all(&b);
	cr_assert(build_ok(&b));
	cr_assert_str_eq(out.p, "{\"a\\\"\\n\":\"\xc3\xa9\\\\\\u0001\xef\xbf\xbd\",\"min\":-"
				"9223372036854775808,\"yes\":true,"
				"\"none\":null,\"empty\":{},\"list\":[1,{},[false,null],\"v\",{"
				"\"r\":1}],\"last\":\"\"}");
	str_finish(&out);
}

Test(build, a_limit_shows_wherever_it_is_hit)
{
	struct str whole = STR_INIT(1000);
	struct build b = build_into(&whole);
	write_all(&b);
	for (size_t limit = 0; limit < whole.len; limit++) {
		struct str out = STR_INIT(limit);
		b = build_into(&out);
		write_all(&b);
		cr_assert(!build_ok(&b), "limit %zu", limit);
		str_finish(&out);
	}
	str_finish(&whole);
}

Test(build, unfinished_is_not_ok)
{
	struct str out = STR_INIT(1000);
	struct build b = build_into(&out);
	build_begin_object(&b);
	cr_assert(!build_ok(&b));
	build_end(&b);
	cr_assert(build_ok(&b));
	str_finish(&out);
}
