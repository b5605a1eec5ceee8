/* The registry of metrics: counters, gauges and histograms by name and labels, written in the
 * Prometheus text format. Handles stay valid as long as the registry. The number of series is
 * bounded (METRIC_SERIES_MAX); what comes after that shares one series with the label
 * overflow="true".
 *
 * Who has no registry counts nothing: of NULL metric_get gives NULL, and the calls on a handle do
 * nothing with NULL. */
#ifndef BASE_METRIC_H
#define BASE_METRIC_H

#include <stdint.h>

#include "base/str.h"

#define METRIC_SERIES_MAX 4096

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_registry;
struct metric; /* one series */

struct metric_registry *metric_registry_create(void);
void metric_registry_destroy(struct metric_registry *r);

/* `labels` is the text between the braces, e.g. `reason="Quota"`, or NULL. Values must be escaped
 * with metric_label. Finding the same name and labels again returns the same handle. */
struct metric *metric_get(struct metric_registry *r, enum metric_type type, const char *name,
	const char *help, const char *labels);
void metric_add(struct metric *m, int64_t n);
void metric_set(struct metric *m, int64_t value);
/* Found by its name, for what is told seldom. */
void metric_count(struct metric_registry *r, const char *name, const char *help, const char *labels,
	int64_t n);
void metric_gauge(struct metric_registry *r, const char *name, const char *help, int64_t value);
int64_t metric_value(const struct metric *m);
/* Histograms take microseconds and are exposed in seconds, buckets 50 us to 50 s. */
void metric_observe_us(struct metric *m, int64_t us);
void metric_write(const struct metric_registry *r, struct str *out);
/* key="value" with the value escaped, appended to out, comma first if out is not empty. */
void metric_label(struct str *out, const char *key, const char *value);

#endif
