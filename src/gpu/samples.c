/* What a device without GPM did between two looks: NVML keeps a sample of each sixth of a second to
 * a second, for some time. */
#include <string.h>

#include "sampler_parts.h"

#define SECOND_US 1000000ull
#define ROWS_MAX  1024
#define FULL	  100  /* percent */
#define PERCENT	  1000 /* in the thousandths of our figures */
/* How late samples may come, and by how much a driver's clock may differ. */
#define LATE_US (2 * SECOND_US)
/* Of less of the interval nothing is said: the driver forgot the rest, or never took it. */
#define COVERED_PERCENT 75

struct span {
	uint64_t after_us, until_us;
	uint64_t covered_us, total; /* the latter: percent times microseconds */
	uint64_t newest_us;
};

/* Samples come in the order of their time; each stands for what came before it, a second at most.
 */
static void span_add(struct span *s, const struct nvml_sample *row)
{
	uint64_t since_us = s->newest_us > s->after_us ? s->newest_us : s->after_us;
	if (row->value.whole > FULL || row->time_us <= since_us || row->time_us > s->until_us) {
		return;
	}
	uint64_t us = row->time_us - since_us < SECOND_US ? row->time_us - since_us : SECOND_US;
	s->covered_us += us;
	s->total += us * row->value.whole;
	s->newest_us = row->time_us;
}

static bool samples_ask(struct look *l, struct span *span)
{
	int kind = 0;
	unsigned count = ROWS_MAX;
	struct nvml_sample *rows = sampler_rows(l->s, ROWS_MAX, sizeof *rows);
	int code = l->calls->samples(
		l->handle, NVML_SAMPLES_GPU_USE, span->after_us, &kind, &count, rows);
	/* Nothing found has a meaning of its own: there is no newer one. */
	if (code == NVML_NOT_FOUND || !look_took(l, code, "read the samples of its use") ||
		kind != NVML_VALUE_WHOLE || count > ROWS_MAX) {
		return false;
	}
	for (unsigned i = 0; i < count; i++) {
		span_add(span, &rows[i]);
	}
	return true;
}

static int64_t mean_of(const struct span *span, uint64_t interval_us)
{
	if (span->covered_us == 0 || span->covered_us * 100 < interval_us * COVERED_PERCENT) {
		return GPU_UNKNOWN;
	}
	return (int64_t)((span->total * PERCENT + span->covered_us / 2) / span->covered_us);
}

static int64_t samples_read(struct look *l, int64_t mono_us, uint64_t now_us)
{
	struct device *d = l->device;
	bool first = d->samples_asked_us == 0;
	uint64_t interval_us = first ? 0 : (uint64_t)(mono_us - d->samples_asked_us);
	uint64_t reach_us = interval_us + LATE_US;
	struct span span = {.after_us = now_us > reach_us ? now_us - reach_us : 0,
		.until_us = now_us + LATE_US};
	/* Where the clock was set back since, it is not the same clock. */
	if (d->samples_us > span.after_us && d->samples_us <= now_us) {
		span.after_us = d->samples_us;
	}
	d->samples_asked_us = mono_us;
	bool told = samples_ask(l, &span);
	d->samples_us = span.newest_us > 0 ? span.newest_us : d->samples_us;
	return told && !first ? mean_of(&span, interval_us) : GPU_UNKNOWN;
}

void look_samples(struct look *l)
{
	struct device *d = l->device;
	int64_t *figures = l->reading->figures;
	int64_t mono_us = clock_mono(l->s->clock) * 1000, wall_us = clock_wall(l->s->clock) * 1000;
	if (d->samples_asked_us != 0 && mono_us - d->samples_asked_us < l->use_every_ms * 1000) {
		figures[FIGURE_GPU_UTIL_MEAN] = d->mean;
		return;
	}
	d->mean = GPU_UNKNOWN;
	if (l->calls->samples != NULL && !d->told.mig && wall_us > 0 &&
		figures[FIGURE_PROF_GR_ENGINE_ACTIVE] == GPU_UNKNOWN) {
		d->mean = samples_read(l, mono_us, (uint64_t)wall_us);
	}
	figures[FIGURE_GPU_UTIL_MEAN] = d->mean;
}
