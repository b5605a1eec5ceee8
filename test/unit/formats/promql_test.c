/* Answers of Prometheus: vectors, matrices, errors and what is neither. */
#include "formats/promql.h"

#include <criterion/criterion.h>

#include "base/str.h"

#define VECTOR(result)                                                                             \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[" result "]}}"
#define MATRIX(result)                                                                             \
	"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[" result "]}}"

static int decode(const char *json, struct arena *arena, struct promql_answer *a, struct fault *f)
{
	*f = (struct fault){0};
	return promql_decode(json, strlen(json), arena, a, f);
}

Test(promql, a_vector)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct promql_answer a;
	struct fault f;
	cr_assert_eq(decode(VECTOR("{\"metric\":{\"__name__\":\"m\",\"pod\":\"p\"},"
				   "\"value\":[1700000000.123,\"0.5\"]},"
				   "{\"metric\":{},\"value\":[1700000000,\"NaN\"]}"),
			     &arena, &a, &f),
		0, "%s", f.message);
	cr_assert_eq(a.series_count, 2);
	cr_expect_str_eq(a.series[0].series.name, "m");
	cr_expect_str_eq(series_label(&a.series[0].series, "pod"), "p");
	cr_expect_null(series_label(&a.series[0].series, "__name__"));
	cr_expect_eq(a.series[0].points[0].time_ms, 1700000000123);
	cr_expect_eq(a.series[0].points[0].value.micro, 500000);
	cr_expect_str_eq(a.series[1].series.name, "");
	cr_expect_eq(a.series[1].points[0].value.state, FIGURE_NAN);
	cr_expect_null(a.warning);
}

Test(promql, a_matrix_and_its_warnings)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct promql_answer a;
	struct fault f;
	cr_assert_eq(
		decode("{\"status\":\"success\",\"warnings\":[\"slow\",\"x\"],\"infos\":[],"
		       "\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{},"
		       "\"values\":[[1,\"1\"],[2.5,\"+Inf\"]]},{\"metric\":{},\"values\":[]}]}}",
			&arena, &a, &f),
		0, "%s", f.message);
	cr_assert(a.series_count == 2 && a.series[0].point_count == 2);
	cr_expect_eq(a.series[1].point_count, 0);
	cr_expect_eq(a.series[0].points[1].time_ms, 2500);
	cr_expect_eq(a.series[0].points[1].value.state, FIGURE_INFINITE);
	cr_expect(a.warning_count == 2 && text_equals(a.warning, "slow"));
	cr_assert_eq(decode(VECTOR(""), &arena, &a, &f), 0);
	cr_expect_eq(a.series_count, 0, "nothing is an answer, too");
}

struct row {
	enum fault_kind kind;
	const char *json, *part;
};

Test(promql, what_is_no_answer)
{
	static const struct row rows[] = {
		{FAULT_INVALID, "", "prometheus"},
		{FAULT_INVALID, "<html>", "prometheus"},
		{FAULT_INVALID, "[]", "status"},
		{FAULT_INVALID, "{}", "status"},
		{FAULT_INVALID, "{\"status\":\"success\"}", "resultType"},
		{FAULT_INVALID,
			"{\"status\":\"success\",\"data\":{\"resultType\":\"scalar\",\"result\":[1,"
			"\"1\"]}}",
			"resultType"},
		{FAULT_INVALID, "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\"}}",
			"result"},
		{FAULT_INVALID, VECTOR("1"), "result[0]"},
		{FAULT_INVALID, VECTOR("{\"value\":[1,\"1\"]}"), "metric"},
		{FAULT_INVALID, VECTOR("{\"metric\":{\"a\":1},\"value\":[1,\"1\"]}"), "metric"},
		{FAULT_INVALID, VECTOR("{\"metric\":{}}"), "value"},
		{FAULT_INVALID, VECTOR("{\"metric\":{},\"value\":[1]}"), "value"},
		{FAULT_INVALID, VECTOR("{\"metric\":{},\"value\":[1,1]}"), "string expected"},
		{FAULT_INVALID, VECTOR("{\"metric\":{},\"value\":[1,\"0x1\"]}"), "0x1"},
		{FAULT_INVALID, VECTOR("{\"metric\":{},\"value\":[-1,\"1\"]}"), "time"},
		{FAULT_INVALID, VECTOR("{\"metric\":{},\"value\":[1e300,\"1\"]}"), "time"},
		{FAULT_INVALID, VECTOR("{\"metric\":{},\"histogram\":[1,{}]}"), "value"},
		{FAULT_INVALID, MATRIX("{\"metric\":{},\"value\":[1,\"1\"]}"), "array expected"},
		{FAULT_INVALID, MATRIX("{\"metric\":{},\"values\":[[2,\"1\"],[1,\"1\"]]}"),
			"values[1]"},
		{FAULT_INVALID,
			"{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse "
			"error\"}",
			"bad_data: parse error"},
		{FAULT_LIMIT,
			"{\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"too many\"}",
			"too many"},
		{FAULT_TRANSIENT, "{\"status\":\"error\",\"errorType\":\"timeout\"}", "timeout"},
		{FAULT_TRANSIENT, "{\"status\":\"error\"}", "does not say"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		CLEANUP(arena_finish) struct arena arena = {0};
		struct promql_answer a;
		struct fault f;
		cr_assert_eq(decode(rows[i].json, &arena, &a, &f), -1, "%s", rows[i].json);
		cr_expect_eq(f.kind, rows[i].kind, "%s: %s", rows[i].json, f.message);
		cr_expect(strstr(f.message, rows[i].part) != NULL, "%s lacks %s", f.message,
			rows[i].part);
	}
}

Test(promql, an_answer_has_a_limit)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str text = STR_INIT((size_t)4 << 20);
	struct promql_answer a;
	struct fault f;
	str_append_text(
		&text, "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[");
	for (int i = 0; i <= PROMQL_SERIES_MAX; i++) {
		str_append_format(&text, "%s{\"metric\":{},\"value\":[1,\"1\"]}", i > 0 ? "," : "");
	}
	str_append_text(&text, "]}}");
	cr_assert_eq(decode(str_text(&text), &arena, &a, &f), -1);
	cr_expect(f.kind == FAULT_LIMIT && strstr(f.message, "series") != NULL, "%s", f.message);
	str_reset(&text);
	str_append_text(&text,
		"{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
		"{\"metric\":{},\"values\":[");
	for (int i = 0; i <= PROMQL_POINTS_MAX; i++) {
		str_append_text(&text, i > 0 ? ",[1,\"1\"]" : "[1,\"1\"]");
	}
	str_append_text(&text, "]}]}}");
	cr_assert_eq(decode(str_text(&text), &arena, &a, &f), -1);
	cr_expect_eq(f.kind, FAULT_LIMIT, "%s", f.message);
	str_reset(&text);
	while (text.len <= PROMQL_BYTES_MAX) {
		str_append_text(
			&text, "                                                          ");
	}
	cr_assert_eq(decode(str_text(&text), &arena, &a, &f), -1);
	cr_expect_eq(f.kind, FAULT_LIMIT, "%s", f.message);
}
