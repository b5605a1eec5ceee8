/* PodDisruptionBudgets as the API server writes them. */
#include "codec/objects.h"

#include <criterion/criterion.h>

#include "base/str.h"

static int decode(
	struct arena *a, const char *spec, const char *status, struct budget *b, struct fault *f)
{
	const char *json = arena_printf(a,
		"{\"metadata\":{\"namespace\":\"n\",\"name\":\"b\",\"uid\":\"u\",\"generation\":2},"
		"\"spec\":%s,\"status\":%s}",
		spec, status);
	return fields_decode(view_of(json), &budget_shape, a, b, f);
}

#define STATUS "{\"disruptionsAllowed\":3,\"observedGeneration\":2}"

Test(budget, selects_what_its_selector_says)
{
	static const struct {
		const char *spec;
		bool present, matches;
	} rows[] = {
		{"{\"selector\":{\"matchLabels\":{\"app\":\"web\"}}}", true, true},
		{"{\"selector\":{\"matchLabels\":{\"app\":\"llm\"}}}", true, false},
		{"{\"selector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\","
		 "\"values\":[\"web\"]}]}}",
			true, true},
		{"{\"selector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":"
		 "\"DoesNotExist\"}]}}",
			true, false},
		{"{\"selector\":{}}", true, true},
		{"{\"selector\":null}", false, true},
		{"{}", false, true},
	};
	struct pair label = {"app", "web"};
	const struct pairs labels = {&label, 1};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct budget b;
		struct fault f = {0};
		cr_assert_eq(decode(&arena, rows[i].spec, STATUS, &b, &f), 0, "%s", f.message);
		cr_expect_str_eq(b.ns, "n");
		cr_expect_str_eq(b.name, "b");
		cr_expect_eq(b.allowed, 3);
		cr_expect_eq(b.selector.present, rows[i].present, "row %zu", i);
		cr_expect_eq(selector_matches(&b.selector, &labels), rows[i].matches, "row %zu", i);
	}
}

Test(budget, allows_nothing_until_its_status_is_of_its_spec)
{
	static const char *const rows[] = {"{\"disruptionsAllowed\":3,\"observedGeneration\":1}",
		"{}", "null", "{\"disruptionsAllowed\":-3,\"observedGeneration\":2}"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct budget b;
		struct fault f = {0};
		cr_assert_eq(decode(&arena, "{\"selector\":{}}", rows[i], &b, &f), 0);
		cr_expect_eq(b.allowed, 0, "row %zu", i);
	}
}

Test(budget, what_is_none_is_said)
{
	static const char *const rows[] = {"[]", "{\"selector\":[]}",
		"{\"selector\":{\"matchLabels\":{\"app\":1}}}",
		"{\"selector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Like\"}]}}"};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct budget b = {.name = "untouched"};
		struct fault f = {0};
		int result = decode(&arena, rows[i], STATUS, &b, &f);
		cr_expect(result == -1 || !b.selector.present, "row %zu", i);
		cr_expect(result == 0 || strstr(f.message, "poddisruptionbudget n/b") != NULL, "%s",
			f.message);
	}
}
