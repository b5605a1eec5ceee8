/* GPM: what Hopper and later count of their work between two samples. */
#include <string.h>

#include "sampler_parts.h"

/* Two samples that are closer tell nothing. */
#define BETWEEN_MS 100

static const struct {
	unsigned id;
	enum gpu_figure figure;
	bool traffic; /* MiB a second, else percent */
} metrics[] = {
	{1, FIGURE_PROF_GR_ENGINE_ACTIVE, false},
	{2, FIGURE_PROF_SM_ACTIVE, false},
	{3, FIGURE_PROF_SM_OCCUPANCY, false},
	{5, FIGURE_PROF_PIPE_TENSOR_ACTIVE, false},
	{10, FIGURE_PROF_DRAM_ACTIVE, false},
	{20, FIGURE_PROF_PCIE_TX_BYTES, true},
	{21, FIGURE_PROF_PCIE_RX_BYTES, true},
};

/* The comparison refuses what is no number, too. */
static void metric_take(struct look *l, size_t i, double value)
{
	const double most = metrics[i].traffic ? 1e9 : 100.5;
	if (!(value >= 0 && value <= most)) {
		return;
	}
	if (metrics[i].traffic) {
		l->reading->figures[metrics[i].figure] = (int64_t)(value * 1048576);
		return;
	}
	int64_t thousandths = (int64_t)(value * 10 + 0.5);
	l->reading->figures[metrics[i].figure] = thousandths < 1000 ? thousandths : 1000;
}

static void metrics_look(struct look *l)
{
	struct nvml_gpm_metrics wanted = {.version = NVML_GPM_VERSION,
		.count = COUNT_OF(metrics),
		.before = l->device->before,
		.after = l->device->after};
	for (size_t i = 0; i < COUNT_OF(metrics); i++) {
		wanted.metrics[i].id = metrics[i].id;
	}
	if (!look_took(l, l->calls->gpm_metrics(&wanted), "read GPM")) {
		return;
	}
	for (size_t i = 0; i < COUNT_OF(metrics); i++) {
		if (wanted.metrics[i].code == NVML_SUCCESS) {
			metric_take(l, i, wanted.metrics[i].value);
		}
	}
}

static bool gpm_supported(struct look *l)
{
	const struct nvml_calls *c = l->calls;
	struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
	return !l->device->told.mig && c->gpm_support != NULL && c->gpm_make != NULL &&
	       c->gpm_free != NULL && c->gpm_get != NULL && c->gpm_metrics != NULL &&
	       look_took(l, c->gpm_support(l->handle, &support), "ask for GPM") &&
	       support.supported != 0;
}

static bool samples_made(struct look *l)
{
	struct device *d = l->device;
	if (d->before == NULL && l->calls->gpm_make(&d->before) != NVML_SUCCESS) {
		d->before = NULL;
	}
	if (d->after == NULL && l->calls->gpm_make(&d->after) != NVML_SUCCESS) {
		d->after = NULL;
	}
	return d->before != NULL && d->after != NULL;
}

/* Is it time for a second sample? */
static bool gpm_is_due(const struct look *l, int64_t now_ms)
{
	int64_t since_ms = now_ms - l->device->before_ms;
	return since_ms >= BETWEEN_MS && since_ms >= l->use_every_ms;
}

static void gpm_read(struct look *l, int64_t now_ms)
{
	struct device *d = l->device;
	bool second = d->before_ms != 0;
	if (!gpm_supported(l) || !samples_made(l) ||
		!look_took(l, l->calls->gpm_get(l->handle, second ? d->after : d->before),
			"take a sample of GPM")) {
		return;
	}
	d->before_ms = now_ms;
	if (second) {
		metrics_look(l);
		void *older = d->before;
		d->before = d->after;
		d->after = older;
	}
}

void look_gpm(struct look *l)
{
	struct device *d = l->device;
	int64_t *figures = &l->reading->figures[FIGURE_PROF_GR_ENGINE_ACTIVE];
	int64_t now_ms = clock_mono(l->s->clock);
	if (d->before_ms != 0 && !gpm_is_due(l, now_ms)) {
		memcpy(figures, d->gpm, sizeof d->gpm);
		return;
	}
	gpm_read(l, now_ms);
	memcpy(d->gpm, figures, sizeof d->gpm);
}
