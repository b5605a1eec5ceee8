/* What a device measures of itself, and what of that says that it is ill. */
#include <stdio.h>
#include <string.h>

#include "sampler_parts.h"

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

/* Without row remapping, memory that failed is used on until the reset that retires it. */
static bool memory_failed(struct look *l)
{
	unsigned long long errors = 0;
	return l->reading->figures[FIGURE_ROW_REMAP_FAILURE] == GPU_UNKNOWN &&
	       l->calls->ecc != NULL &&
	       look_took(l, l->calls->ecc(l->handle, ECC_UNCORRECTED, ECC_SINCE_RESET, &errors),
		       "count the ECC errors") &&
	       errors > 0;
}

void look_health(struct look *l)
{
	struct gpu_reading *r = l->reading;
	const struct device *d = l->device;
	r->figures[FIGURE_XID] = d->heard ? d->xid : GPU_UNKNOWN;
	r->ill_xid = d->ill_xid;
	if (r->figures[FIGURE_ROW_REMAP_FAILURE] == 1) {
		r->ill = "a failed row of its memory could not be replaced: it needs a repair";
	} else if (d->ill_xid != 0) {
		r->ill = xid_sentence(l->arena, d->ill_xid);
	} else if (memory_failed(l)) {
		r->ill = "its memory had errors that ECC could not correct: it needs a reset";
	}
}
