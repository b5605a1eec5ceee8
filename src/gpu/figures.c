/* What a device measures of itself, what Hopper and later count of their work between two samples
 * (GPM), what a device without GPM did between two looks, and what of all that says that it is ill.
 */
#include "figures.h"

#include "gpu/xid.h"
#include "look.h"

enum { CLOCK_SM = 1, CLOCK_MEM = 2, ECC_UNCORRECTED = 1, ECC_SINCE_RESET = 0 };

#define PERCENT 1000 /* in the thousandths of our figures */

static void figure_set(struct look *l, enum gpu_figure figure, uint64_t value)
{
	l->reading->figures[figure] = value <= INT64_MAX ? (int64_t)value : GPU_UNKNOWN;
}

/* More than all of it is no measure. */
static void percent_set(struct look *l, enum gpu_figure figure, unsigned percent)
{
	if (percent <= 100) {
		figure_set(l, figure, (uint64_t)percent * PERCENT);
	}
}

static void memory_look(struct look *l)
{
	struct nvml_memory_v2 v2 = {.version = NVML_MEMORY_V2};
	if (l->calls->memory_v2 != NULL && l->calls->memory_v2(l->handle, &v2) == NVML_SUCCESS &&
		v2.total > 0) {
		figure_set(l, FIGURE_FB_TOTAL, v2.total);
		figure_set(l, FIGURE_FB_RESERVED, v2.reserved);
		figure_set(l, FIGURE_FB_FREE, v2.free);
		figure_set(l, FIGURE_FB_USED, v2.used);
		return;
	}
	/* What an old driver reserves is in its used. */
	struct nvml_memory v1 = {0};
	if (look_took(l, l->calls->memory(l->handle, &v1), "read the memory") && v1.total > 0) {
		figure_set(l, FIGURE_FB_TOTAL, v1.total);
		figure_set(l, FIGURE_FB_FREE, v1.free);
		figure_set(l, FIGURE_FB_USED, v1.used);
	}
}

static void rates_look(struct look *l)
{
	struct nvml_rates rates = {0};
	unsigned use = 0, period_us = 0;
	const struct nvml_calls *c = l->calls;
	if (c->rates != NULL && look_took(l, c->rates(l->handle, &rates), "read the utilisation")) {
		percent_set(l, FIGURE_GPU_UTIL, rates.gpu);
		percent_set(l, FIGURE_MEM_COPY_UTIL, rates.memory);
	}
	if (c->encoder != NULL &&
		look_took(l, c->encoder(l->handle, &use, &period_us), "read the encoder's use")) {
		percent_set(l, FIGURE_ENC_UTIL, use);
	}
	if (c->decoder != NULL &&
		look_took(l, c->decoder(l->handle, &use, &period_us), "read the decoder's use")) {
		percent_set(l, FIGURE_DEC_UTIL, use);
	}
}

static void heat_look(struct look *l)
{
	const struct nvml_calls *c = l->calls;
	struct nvml_field field = {.id = NVML_FIELD_MEMORY_TEMP};
	unsigned value = 0;
	unsigned long long large = 0;
	if (c->temperature != NULL &&
		look_took(l, c->temperature(l->handle, 0, &value), "read the temperature")) {
		figure_set(l, FIGURE_GPU_TEMP, value);
	}
	if (c->fields != NULL &&
		look_took(l, c->fields(l->handle, 1, &field), "read the memory's temperature") &&
		field.code == NVML_SUCCESS) {
		figure_set(l, FIGURE_MEMORY_TEMP, field.value.u);
	}
	if (c->power != NULL && look_took(l, c->power(l->handle, &value), "read the power")) {
		figure_set(l, FIGURE_POWER_MW, value);
	}
	if (c->energy != NULL && look_took(l, c->energy(l->handle, &large), "read the energy")) {
		figure_set(l, FIGURE_ENERGY_MJ, large);
	}
}

static void clocks_look(struct look *l)
{
	const struct nvml_calls *c = l->calls;
	unsigned value = 0;
	if (c->clock != NULL &&
		look_took(l, c->clock(l->handle, CLOCK_SM, &value), "read a clock")) {
		figure_set(l, FIGURE_SM_CLOCK, value);
	}
	if (c->clock != NULL &&
		look_took(l, c->clock(l->handle, CLOCK_MEM, &value), "read a clock")) {
		figure_set(l, FIGURE_MEM_CLOCK, value);
	}
	if (c->pcie_replay != NULL &&
		look_took(l, c->pcie_replay(l->handle, &value), "count PCIe replays")) {
		figure_set(l, FIGURE_PCIE_REPLAY, value);
	}
}

static void rows_look(struct look *l)
{
	unsigned correctable = 0, uncorrectable = 0, pending = 0, failed = 0;
	if (l->calls->remapped == NULL || !look_took(l,
						  l->calls->remapped(l->handle, &correctable,
							  &uncorrectable, &pending, &failed),
						  "read the remapped rows")) {
		return;
	}
	figure_set(l, FIGURE_CORRECTABLE_REMAPPED_ROWS, correctable);
	figure_set(l, FIGURE_UNCORRECTABLE_REMAPPED_ROWS, uncorrectable);
	figure_set(l, FIGURE_ROW_REMAP_PENDING, pending != 0);
	figure_set(l, FIGURE_ROW_REMAP_FAILURE, failed != 0);
}

static void place_look(struct look *l)
{
	struct device *d = l->device;
	struct nvml_pci pci = {0};
	unsigned minor = 0;
	/* Of a device under MIG describing it tells neither size nor number. */
	if (d->told.mig && look_took(l, l->calls->minor(l->handle, &minor), "read the number")) {
		d->told.identity.minor = (int32_t)(minor & INT32_MAX);
	}
	if (d->pci_bus_id[0] != '\0' || l->calls->pci == NULL ||
		!look_took(l, l->calls->pci(l->handle, &pci), "read the bus")) {
		return;
	}
	/* Composed, since an older driver has the short form only. */
	(void)snprintf(d->pci_bus_id, sizeof d->pci_bus_id, "%08X:%02X:%02X.0", pci.domain & ~0u,
		pci.bus & 0xffu, pci.device & 0xffu);
}

static void mode_look(struct look *l)
{
	int mode = 0;
	if (l->calls->get_compute_mode != NULL &&
		look_took(l, l->calls->get_compute_mode(l->handle, &mode),
			"ask for the compute mode") &&
		mode >= 0) {
		figure_set(l, FIGURE_COMPUTE_MODE, (uint64_t)mode);
	}
}

void look_figures(struct look *l)
{
	static void (*const steps[])(struct look * l) = {
		place_look, memory_look, rates_look, heat_look, clocks_look, rows_look, mode_look};
	for (size_t i = 0; l->reading->answered && i < COUNT_OF(steps); i++) {
		steps[i](l);
	}
}

void look_health(struct look *l)
{
	struct gpu_reading *r = l->reading;
	const struct device *d = l->device;
	unsigned long long errors = 0;
	r->figures[FIGURE_XID] = d->heard ? d->xid : GPU_UNKNOWN;
	r->ill_xid = d->ill_xid;
	if (r->figures[FIGURE_ROW_REMAP_FAILURE] == 1) {
		r->ill = "a failed row of its memory could not be replaced: it needs a repair";
	} else if (d->ill_xid != 0) {
		r->ill = xid_sentence(l->arena, d->ill_xid);
	} else if (r->figures[FIGURE_ROW_REMAP_FAILURE] == GPU_UNKNOWN && l->calls->ecc != NULL &&
		   look_took(l, l->calls->ecc(l->handle, ECC_UNCORRECTED, ECC_SINCE_RESET, &errors),
			   "count the ECC errors") &&
		   errors > 0) {
		/* Without row remapping, memory that failed is used on until the reset that retires
		 * it. */
		r->ill = "its memory had errors that ECC could not correct: it needs a reset";
	}
}

/* --- GPM --- */

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
	int64_t since_ms = now_ms - d->before_ms;
	if (d->before_ms != 0 && (since_ms < BETWEEN_MS || since_ms < l->use_every_ms)) {
		memcpy(figures, d->gpm, sizeof d->gpm);
		return;
	}
	gpm_read(l, now_ms);
	memcpy(d->gpm, figures, sizeof d->gpm);
}

/* --- samples, where there is no GPM --- */

#define SECOND_US 1000000ull
#define ROWS_MAX  1024
#define FULL	  100 /* percent */
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
