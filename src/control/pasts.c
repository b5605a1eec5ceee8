/* One ask at a time, with a pause after each: the past of thousands of workloads may take hours,
 * and what is used now goes on to be read meanwhile. */
#include "pasts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "meter/prometheus_history.h"
#include "sizer/past.h"

#define PAUSE_MS 100
/* After a failure, before the next workload is asked for. */
#define AFTER_FAULT_MS 60000

struct pasts {
	struct prometheus *prometheus; /* all borrowed */
	struct sizer *sizer;
	const struct clock *clock;
	uint64_t asking; /* 0: nothing is under way */
	int64_t next_at; /* monotonic */
	uint64_t points; /* of the workload that is asked for */
};

struct pasts *pasts_create(
	struct prometheus *prometheus, struct sizer *sizer, const struct clock *clock)
{
	struct pasts *p = xcalloc(1, sizeof *p);
	*p = (struct pasts){.prometheus = prometheus, .sizer = sizer, .clock = clock};
	return p;
}

void pasts_end(struct pasts *p)
{
	if (p->asking != 0) {
		prometheus_history_cancel(p->prometheus, p->asking);
		p->asking = 0;
	}
}

void pasts_destroy(struct pasts *p)
{
	if (p != NULL) {
		pasts_end(p);
		free(p);
	}
}

/* --- what is told --- */

static void on_points(void *data, const struct metered *points, size_t count)
{
	struct pasts *p = data;
	sizer_past_take(p->sizer, points, count);
}

static void give_up_past(struct pasts *p, const struct sizer_past *past, const struct fault *f)
{
	log_warn("the past of a workload cannot be read, it is learnt from now on",
		LOG_S("ns", past->ns), LOG_S("recommendation", past->object), LOG_F(f));
	sizer_past_drop(p->sizer);
	p->points = 0;
	p->next_at = clock_mono(p->clock) + AFTER_FAULT_MS;
}

/* A peak may be missing in what is told with a warning, so nothing of it may make a share smaller.
 */
static void on_past_end(void *data, const struct history_end *end)
{
	struct pasts *p = data;
	struct sizer_past past;
	struct fault f = {0};
	p->asking = 0;
	p->next_at = clock_mono(p->clock) + PAUSE_MS;
	if (!sizer_past_next(p->sizer, &past)) {
		return;
	}
	if (end->fault != NULL || end->partial) {
		fault_set(&f, FAULT_INVALID, "the Prometheus says that it may not know all");
		give_up_past(p, &past, end->fault != NULL ? end->fault : &f);
		return;
	}
	p->points += end->points;
	switch (sizer_past_span(p->sizer, clock_policy(p->clock))) {
	case SIZER_PAST_GOES_ON:
		return;
	case SIZER_PAST_TAKEN:
		log_info("the past of a workload was read", LOG_I("points", (int64_t)p->points));
		break;
	case SIZER_PAST_TOO_MUCH:
		log_warn("the past of a workload is too much, it is learnt from now on",
			LOG_I("points", (int64_t)p->points));
		break;
	}
	p->points = 0;
}

static const struct history_events history_events = {.on_points = on_points, .on_end = on_past_end};

/* --- asking --- */

void pasts_step(struct pasts *p, int64_t now)
{
	struct sizer_past past;
	struct fault f = {0};
	if (p->prometheus == NULL || p->asking != 0 || now < p->next_at ||
		!sizer_past_next(p->sizer, &past)) {
		return;
	}
	/* The sizer has policy time, the Prometheus the time of the clock on the wall. */
	int64_t ahead_ms = clock_policy(p->clock) - clock_wall(p->clock);
	struct history_ask ask = {.ns = past.ns,
		.pods = past.pods,
		.from_ms = past.from_ms - ahead_ms,
		.to_ms = past.to_ms - ahead_ms,
		.compute_step_ms = SIZER_PAST_STEP_MS,
		.memory_step_ms = SIZER_PAST_STEP_MS};
	p->asking = prometheus_history(p->prometheus, &ask, &history_events, p, &f);
	if (p->asking == 0) {
		give_up_past(p, &past, &f);
	}
}

int64_t pasts_deadline(const struct pasts *p)
{
	struct sizer_past past;
	bool wanted = p->prometheus != NULL && p->asking == 0 && sizer_past_next(p->sizer, &past);
	return wanted ? p->next_at : TIME_NEVER;
}
