/* What is dropped from a review before it is parsed. */
#include "trim.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"

static void trims(const char *before, const char *after)
{
	CLEANUP(str_finish) struct str out = STR_INIT(10000);
	cr_assert(trim_review(before, strlen(before), &out), "%s", before);
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
		cr_assert_not(trim_review(bad[i], strlen(bad[i]), &out), "%s", bad[i]);
	}
}
