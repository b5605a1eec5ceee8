/* Answers of Prometheus: no bytes crash the decoder, and what is taken is within its limits. */
#include <stdint.h>

#include "base/alloc.h"
#include "formats/promql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t check_series(const struct promql_series *s)
{
	ENSURE(s->series.name != NULL && s->series.label_count <= PROMQL_LABELS_MAX);
	for (uint32_t i = 0; i < s->series.label_count; i++) {
		ENSURE(s->series.labels[i].name != NULL && s->series.labels[i].value != NULL);
	}
	for (uint32_t i = 0; i < s->point_count; i++) {
		ENSURE(s->points[i].time_ms >= 0 && s->points[i].value.state != FIGURE_ABSENT);
		ENSURE(i == 0 || s->points[i].time_ms >= s->points[i - 1].time_ms);
	}
	return s->point_count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct promql_answer a;
	struct fault f = {0};
	uint32_t points = 0;
	char *text = xstrndup((const char *)data, size);
	int result = promql_decode(text, size, &arena, &a, &f);
	cleanup_free(&text);
	if (result < 0) {
		ENSURE(f.kind == FAULT_INVALID || f.kind == FAULT_LIMIT ||
			f.kind == FAULT_TRANSIENT);
		return 0;
	}
	ENSURE(a.series_count <= PROMQL_SERIES_MAX);
	for (uint32_t i = 0; i < a.series_count; i++) {
		points += check_series(&a.series[i]);
	}
	ENSURE(points <= PROMQL_POINTS_MAX && (a.warning == NULL || a.warning_count > 0));
	return 0;
}
