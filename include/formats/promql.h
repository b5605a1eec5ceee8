/* What Prometheus answers at /api/v1/query and /api/v1/query_range: a vector or a matrix.
 *
 * FAULT_INVALID for what is no such answer, and for a query that it refuses ("bad_data");
 * FAULT_LIMIT for more than the limits below and for a query that asks too much of it
 * ("execution"); FAULT_TRANSIENT for any other error that it tells. Its warnings do not spoil an
 * answer; the first one is passed on. */
#ifndef FORMATS_PROMQL_H
#define FORMATS_PROMQL_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "formats/figure.h"
#include "formats/series.h"

/* Nothing else is served while an answer is read: three milliseconds for this many bytes. */
#define PROMQL_BYTES_MAX  ((size_t)128 * 1024)
#define PROMQL_SERIES_MAX 2048
#define PROMQL_POINTS_MAX 16000 /* of all series together */
#define PROMQL_LABELS_MAX 64

struct promql_point {
	int64_t time_ms; /* since 1970 */
	struct figure value;
};

struct promql_series {
	struct series series;
	struct promql_point *points; /* in the order of time; of a vector exactly one */
	uint32_t point_count;
};

/* All of it in the arena. */
struct promql_answer {
	struct promql_series *series;
	uint32_t series_count;
	uint32_t warning_count;
	const char *warning; /* NULL: none */
};

MUST_CHECK int promql_decode(const char *json, size_t n, struct arena *arena,
	struct promql_answer *ret_answer, struct fault *ret_fault);

#endif
