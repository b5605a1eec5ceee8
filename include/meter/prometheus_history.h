/* The past, as a Prometheus kept it. */
#ifndef METER_PROMETHEUS_HISTORY_H
#define METER_PROMETHEUS_HISTORY_H

#include "meter/prometheus.h"

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

/* For prometheus.c. */
struct history;
struct promql_answer;
void history_send(struct prometheus *p, struct history *h);
/* `f`: NULL where there is an answer. True: it is at its end and gone. */
void history_answered(struct prometheus *p, struct history *h, const struct promql_answer *a,
	const struct fault *f);
void history_finish_all(struct prometheus *p);

#endif
