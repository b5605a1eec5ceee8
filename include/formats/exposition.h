/* The Prometheus text format (0.0.4), read as it comes in, in pieces of any size: what agents,
 * dcgm-exporter and applications answer at /metrics.
 *
 *     struct exposition *e = exposition_create(on_sample, data);
 *     ... exposition_feed(e, piece, n, &f) ...
 *     exposition_end(e, &f);
 *
 * It is read whole or not at all: the first line that cannot be read ends it, with FAULT_INVALID
 * and the line's number, and so does a last line without its end, for then something was cut off.
 * Whoever gathers samples uses them after exposition_end alone. FAULT_LIMIT: more bytes, samples or
 * labels, or a longer line than the limits below.
 *
 * HELP, TYPE and other comments are passed over, and so is an exemplar after a value. A timestamp
 * is milliseconds since 1970. A value that is no number keeps its state (formats/figure.h). Bytes
 * of a label's value are taken as they come, but NUL. */
#ifndef FORMATS_EXPOSITION_H
#define FORMATS_EXPOSITION_H

#include <stddef.h>

#include "base/fault.h"
#include "formats/figure.h"
#include "formats/series.h"

#define EXPOSITION_LINE_MAX    ((size_t)16 * 1024)
#define EXPOSITION_LABELS_MAX  64
#define EXPOSITION_SAMPLES_MAX 200000
#define EXPOSITION_BYTES_MAX   ((size_t)64 << 20)

/* For whoever is to say less. */
struct exposition_limits {
	size_t bytes;
	uint32_t samples;
};

/* Borrowed for the call. */
struct exposition_sample {
	struct series series;
	struct figure value;
	bool has_time;
	int64_t time_ms;
};

/* -1 ends the reading with this fault, to which the line is added. */
typedef int (*exposition_reader)(
	void *data, const struct exposition_sample *s, struct fault *ret_fault);

struct exposition;
struct exposition *exposition_create(exposition_reader on_sample, void *data);
/* Before the first piece; more than the limits above is not allowed either way. */
void exposition_limit(struct exposition *e, struct exposition_limits limits);
void exposition_destroy(struct exposition *e);
/* Not called again after it failed. */
MUST_CHECK int exposition_feed(
	struct exposition *e, const char *p, size_t n, struct fault *ret_fault);
MUST_CHECK int exposition_end(struct exposition *e, struct fault *ret_fault);

#endif
