/* An answer of Prometheus. Numbers come as text there, times as numbers of seconds. */
#include "formats/promql.h"

#include "json/decode.h"

/* The year 3000. */
#define SECONDS_MAX 32503680000.0

struct reading {
	struct arena *arena; /* borrowed */
	uint32_t points_left;
	struct fault *fault; /* borrowed */
};

/* --- errors that it tells --- */

static enum fault_kind kind_of(const char *type)
{
	if (text_equals(type, "bad_data")) {
		return FAULT_INVALID;
	}
	return text_equals(type, "execution") ? FAULT_LIMIT : FAULT_TRANSIENT;
}

/* --- points --- */

static int read_point(const json_t *pair, struct promql_point *p, struct fault *f)
{
	const json_t *time = json_array_get(pair, 0), *value = json_array_get(pair, 1);
	if (!json_is_array(pair) || json_array_size(pair) != 2 || !json_is_number(time)) {
		return fault_set(f, FAULT_INVALID, "a point is a time and a value");
	}
	double seconds = json_number_value(time);
	if (!(seconds >= 0 && seconds <= SECONDS_MAX)) {
		return fault_set(f, FAULT_INVALID, "a time out of range");
	}
	p->time_ms = (int64_t)(seconds * 1000 + 0.5);
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", f);
	}
	if (!figure_parse(view_of(json_string_value(value)), &p->value)) {
		return fault_set(
			f, FAULT_INVALID, "\"%.40s\" is not a number", json_string_value(value));
	}
	return 0;
}

static int take_room(struct reading *r, size_t count, struct promql_series *s)
{
	if (count > r->points_left) {
		return fault_set(r->fault, FAULT_LIMIT, "more points than %d", PROMQL_POINTS_MAX);
	}
	r->points_left -= (uint32_t)count;
	s->points = ARENA_ARRAY(r->arena, struct promql_point, count);
	return 0;
}

static int read_points(struct reading *r, const json_t *values, struct promql_series *s)
{
	size_t count = json_array_size(values);
	if (!json_is_array(values)) {
		return decode_mismatch(values, "array", r->fault);
	}
	if (take_room(r, count, s) < 0) {
		return -1;
	}
	for (size_t i = 0; i < count; i++) {
		if (read_point(json_array_get(values, i), &s->points[i], r->fault) < 0) {
			return fault_wrap(r->fault, "values[%zu]", i);
		}
		if (i > 0 && s->points[i].time_ms < s->points[i - 1].time_ms) {
			return fault_set(
				r->fault, FAULT_INVALID, "values[%zu]: earlier than before", i);
		}
	}
	s->point_count = (uint32_t)count;
	return 0;
}

/* --- one series --- */

static int read_labels(struct reading *r, const json_t *metric, struct series *s)
{
	size_t count = json_object_size(metric);
	if (!json_is_object(metric)) {
		return decode_mismatch(metric, "object", r->fault);
	}
	if (count > PROMQL_LABELS_MAX) {
		return fault_set(r->fault, FAULT_LIMIT, "more labels than %d", PROMQL_LABELS_MAX);
	}
	struct series_label *labels = ARENA_ARRAY(r->arena, struct series_label, count);
	const char *key;
	json_t *value;
	s->name = "";
	json_object_foreach((json_t *)(uintptr_t)metric, key, value)
	{
		if (!json_is_string(value)) {
			return decode_mismatch(value, "string", r->fault);
		}
		const char *text = arena_strdup(r->arena, json_string_value(value));
		if (strcmp(key, "__name__") == 0) {
			s->name = text;
			continue;
		}
		labels[s->label_count].name = arena_strdup(r->arena, key);
		labels[s->label_count++].value = text;
	}
	s->labels = labels;
	return 0;
}

static int read_series(struct reading *r, const json_t *item, bool matrix, struct promql_series *s)
{
	if (!json_is_object(item)) {
		return decode_mismatch(item, "object", r->fault);
	}
	if (read_labels(r, json_object_get(item, "metric"), &s->series) < 0) {
		return fault_wrap(r->fault, "metric");
	}
	if (matrix) {
		return read_points(r, json_object_get(item, "values"), s);
	}
	s->point_count = 1;
	if (take_room(r, 1, s) < 0 ||
		read_point(json_object_get(item, "value"), &s->points[0], r->fault) < 0) {
		return fault_wrap(r->fault, "value");
	}
	return 0;
}

static int read_result(struct reading *r, const json_t *data, struct promql_answer *a)
{
	const char *type = json_string_value(json_object_get(data, "resultType"));
	const json_t *list = json_object_get(data, "result");
	bool matrix = text_equals(type, "matrix");
	if (!matrix && !text_equals(type, "vector")) {
		return fault_set(r->fault, FAULT_INVALID, "resultType: neither vector nor matrix");
	}
	if (!json_is_array(list)) {
		return fault_set(r->fault, FAULT_INVALID, "result: missing");
	}
	size_t count = json_array_size(list);
	if (count > PROMQL_SERIES_MAX) {
		return fault_set(r->fault, FAULT_LIMIT, "more series than %d", PROMQL_SERIES_MAX);
	}
	a->series = ARENA_ARRAY(r->arena, struct promql_series, count);
	for (size_t i = 0; i < count; i++) {
		if (read_series(r, json_array_get(list, i), matrix, &a->series[i]) < 0) {
			return fault_wrap(r->fault, "result[%zu]", i);
		}
	}
	a->series_count = (uint32_t)count;
	return 0;
}

static int read_answer(
	const json_t *root, struct arena *arena, struct promql_answer *a, struct fault *f)
{
	struct reading r = {arena, PROMQL_POINTS_MAX, f};
	const char *status = json_string_value(json_object_get(root, "status"));
	if (text_equals(status, "error")) {
		const char *type = json_string_value(json_object_get(root, "errorType"));
		const char *text = json_string_value(json_object_get(root, "error"));
		return fault_set(f, kind_of(type), "%.40s: %.200s", text_or(type, "error"),
			text_or(text, "it does not say which"));
	}
	if (!text_equals(status, "success")) {
		return fault_set(f, FAULT_INVALID, "status: neither success nor error");
	}
	const json_t *warnings = json_object_get(root, "warnings");
	const char *first = json_string_value(json_array_get(warnings, 0));
	a->warning_count = (uint32_t)json_array_size(warnings);
	a->warning = first != NULL ? arena_strndup(arena, first, strnlen(first, 200)) : NULL;
	return read_result(&r, json_object_get(root, "data"), a);
}

int promql_decode(const char *json, size_t n, struct arena *arena, struct promql_answer *ret_answer,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct promql_answer a = {0};
	if (n > PROMQL_BYTES_MAX) {
		return fault_set(ret_fault, FAULT_LIMIT, "prometheus: more than %zu bytes",
			PROMQL_BYTES_MAX);
	}
	if (decode_parse(json, n, DECODE_UNIQUE, &root, ret_fault) < 0 ||
		read_answer(root, arena, &a, ret_fault) < 0) {
		return fault_wrap(ret_fault, "prometheus");
	}
	*ret_answer = a;
	return 0;
}
