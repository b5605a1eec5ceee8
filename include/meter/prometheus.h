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

/* For prometheus_history.c: POSTs a form to `path`; who asked is told the answer. */
struct str;
void prometheus_send(struct prometheus *p, const char *path, const struct str *form);

#endif
