/* Reads use from a Prometheus that somebody else runs: what it scraped lately of the pods that
 * `latest` wants, and, when asked, what it kept of their past.
 *
 * One query at a time. Pods are asked for in batches, each with its names in the query, so that an
 * answer stays within PROMQL_BYTES_MAX; where it does not, the batch is halved. What is asked for
 * are samples with the times at which they were taken, never a value that Prometheus carried on:
 * an exporter that stopped is seen to be silent.
 *
 * Owner: whoever creates it destroys it before its wire and before `latest`. */
#ifndef METER_PROMETHEUS_H
#define METER_PROMETHEUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"
#include "meter/latest.h"
#include "model/wire.h"

#define PROMETHEUS_TIMEOUT_MS  15000
#define PROMETHEUS_HISTORY_MAX 256 /* that wait */

struct prometheus_config {
	const struct clock *clock;	 /* borrowed */
	struct metric_registry *metrics; /* borrowed; NULL: nothing is counted */
	struct latest *latest;		 /* borrowed */
	uint64_t seed;			 /* of the jitter */
	int64_t every_ms;
	int64_t window_ms; /* how far back a sample is looked for */
	bool gauges;	   /* what applications tell, too */
	/* Label matchers that only exporters meet, which are believed of every pod, by whatever
	 * labels; checked; borrowed. NULL: nothing is believed but the labels that Prometheus wrote
	 * itself, for anybody that it scrapes could write the others. */
	const char *matcher;
};

/* `NAME="VALUE"` with commas between, as in PromQL: = != =~ !~, of which one at least names
 * somebody. Names by which pods are asked for are not allowed. */
MUST_CHECK int prometheus_matcher_check(const char *text, struct fault *ret_fault);

struct prometheus;
struct prometheus *prometheus_create(const struct prometheus_config *config);
void prometheus_destroy(struct prometheus *p);
/* NULL: nobody can be asked. What is under way on another wire is dropped, and asked again. */
void prometheus_use(struct prometheus *p, struct wire *wire);
/* Sent with each query; copied; NULL: none. */
void prometheus_token(struct prometheus *p, const char *token);
/* `reads`: whether to ask at all; only a leader decides. */
void prometheus_step(struct prometheus *p, int64_t now_mono_ms, bool reads);
int64_t prometheus_deadline(const struct prometheus *p, bool reads);

/* --- the past --- */

/* What is kept of (from, to], day by day from the oldest on: the mean compute of each of its steps,
 * and the peak memory of each of its own. One call, however many questions it takes. */
struct history_ask {
	const char *ns;
	const char *pods;	/* a regular expression (RE2) for their names, of our own making */
	int64_t from_ms, to_ms; /* since 1970; rounded down to whole steps of memory */
	int64_t compute_step_ms;
	int64_t memory_step_ms; /* whole steps of compute; a day is whole steps of it */
};

#define HISTORY_DAYS_MAX    35
#define HISTORY_STEP_MIN_MS 60000
#define HISTORY_PODS_MAX    2048 /* bytes of the expression */

struct history_end {
	const struct fault *fault; /* NULL: all was told */
	int64_t told_ms;	   /* compute and memory up to then; to go on, ask from there */
	uint64_t points;
	uint64_t odd; /* figures that were none, and are left out */
	bool partial; /* the Prometheus said that it may not know all */
};

struct history_events {
	/* One figure each, of the step that ends at `at_ms`. Of one pod, container, device and
	 * basis a step is told once; of several exporters the larger counts. A step without samples
	 * is not told: that is a gap, and no zero. */
	void (*on_points)(void *data, const struct metered *points, size_t count);
	/* Once; nothing comes after it. */
	void (*on_end)(void *data, const struct history_end *end);
};

/* Copies what it keeps. 0 with a fault: an ask that cannot be meant, or PROMETHEUS_HISTORY_MAX
 * wait. */
uint64_t prometheus_history(struct prometheus *p, const struct history_ask *ask,
	const struct history_events *events, void *data, struct fault *ret_fault);
void prometheus_history_cancel(struct prometheus *p, uint64_t id); /* unknown ids are fine */

#endif
