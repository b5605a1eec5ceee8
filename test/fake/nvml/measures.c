/* What a device measures of itself, and GPM. */
#include <stdlib.h>

#include "answer.h"

/* A measure as a number; the fake has them all as double. */
static int measure(const char *call, const void *handle, enum measure which, double *ret_value)
{
	struct topology *t;
	int gpu;
	int rc = answer_device(call, handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	*ret_value = t->gpu[gpu].measures[which];
	return *ret_value < 0 ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

static int whole(const char *call, const void *handle, enum measure which, unsigned *ret_value)
{
	double value = 0;
	int rc = measure(call, handle, which, &value);

	if (rc == NVML_SUCCESS)
		*ret_value = (unsigned)value;
	return rc;
}

static int large(
	const char *call, const void *handle, enum measure which, unsigned long long *ret_value)
{
	double value = 0;
	int rc = measure(call, handle, which, &value);

	if (rc == NVML_SUCCESS)
		*ret_value = (unsigned long long)value;
	return rc;
}

int nvmlDeviceGetUtilizationRates(const void *handle, struct nvml_utilization *use)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetUtilizationRates", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	const double *measures = t->gpu[gpu].measures;
	if (t->gpu[gpu].mig_current != 0 || measures[MEASURE_BUSY_GPU] < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	use->gpu = (unsigned)measures[MEASURE_BUSY_GPU];
	use->memory = (unsigned)measures[MEASURE_BUSY_MEMORY];
	return NVML_SUCCESS;
}

/* Of the use alone, as the real one tells it: a whole number of percent. */
int nvmlDeviceGetSamples(const void *handle, int which, unsigned long long last_seen,
	int *value_kind, unsigned *count, struct nvml_own_sample *samples)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetSamples", handle, &t, &gpu);
	unsigned found = 0, room = samples != NULL ? *count : 0;

	if (rc != NVML_SUCCESS)
		return rc;
	if (which != 1 || t->gpu[gpu].mig_current != 0)
		return NVML_ERROR_NOT_SUPPORTED;
	for (int i = 0; i < t->gpu[gpu].owns; i++) {
		if (t->gpu[gpu].own_us[i] <= last_seen)
			continue;
		if (found < room)
			samples[found] =
				(struct nvml_own_sample){.time_stamp = t->gpu[gpu].own_us[i],
					.value.whole = t->gpu[gpu].own[i]};
		found++;
	}
	*value_kind = 1;
	*count = found < room || samples == NULL ? found : room;
	return found == 0 ? NVML_ERROR_NOT_FOUND : NVML_SUCCESS;
}

int nvmlDeviceGetClockInfo(const void *handle, int clock, unsigned *mhz)
{
	return whole("nvmlDeviceGetClockInfo", handle,
		clock == 2 ? MEASURE_MEMORY_CLOCK : MEASURE_SM_CLOCK, mhz);
}

int nvmlDeviceGetTemperature(const void *handle, int sensor, unsigned *celsius)
{
	if (sensor != 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	return whole("nvmlDeviceGetTemperature", handle, MEASURE_TEMPERATURE, celsius);
}

int nvmlDeviceGetPowerUsage(const void *handle, unsigned *milliwatt)
{
	return whole("nvmlDeviceGetPowerUsage", handle, MEASURE_POWER_MW, milliwatt);
}

int nvmlDeviceGetTotalEnergyConsumption(const void *handle, unsigned long long *mj)
{
	return large("nvmlDeviceGetTotalEnergyConsumption", handle, MEASURE_ENERGY_MJ, mj);
}

int nvmlDeviceGetPcieReplayCounter(const void *handle, unsigned *count)
{
	return whole("nvmlDeviceGetPcieReplayCounter", handle, MEASURE_PCIE_REPLAY, count);
}

int nvmlDeviceGetEncoderUtilization(const void *handle, unsigned *use, unsigned *period)
{
	*period = 167000;
	return whole("nvmlDeviceGetEncoderUtilization", handle, MEASURE_ENCODER, use);
}

int nvmlDeviceGetDecoderUtilization(const void *handle, unsigned *use, unsigned *period)
{
	*period = 167000;
	return whole("nvmlDeviceGetDecoderUtilization", handle, MEASURE_DECODER, use);
}

int nvmlDeviceGetTotalEccErrors(
	const void *handle, int error, int counter, unsigned long long *count)
{
	(void)counter;
	*count = 0;
	if (error != 1)
		return NVML_SUCCESS;
	return large("nvmlDeviceGetTotalEccErrors", handle, MEASURE_ECC_UNCORRECTED, count);
}

int nvmlDeviceGetFieldValues(const void *handle, int count, struct nvml_field *values)
{
	struct topology *t;
	int gpu;
	int rc = answer_device("nvmlDeviceGetFieldValues", handle, &t, &gpu);

	for (int i = 0; rc == NVML_SUCCESS && i < count; i++) {
		double value = values[i].id == NVML_FIELD_MEMORY_TEMP
				       ? t->gpu[gpu].measures[MEASURE_MEMORY_TEMPERATURE]
				       : MEASURE_UNSUPPORTED;
		values[i].code = value < 0 ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
		values[i].value_type = NVML_VALUE_UNSIGNED;
		values[i].value = value < 0 ? 0 : (unsigned long long)value;
	}
	return rc;
}

#if FAKE_DRIVER >= 2
int nvmlDeviceGetRemappedRows(const void *handle, unsigned *correctable, unsigned *uncorrectable,
	unsigned *pending, unsigned *failed)
{
	static const char call[] = "nvmlDeviceGetRemappedRows";
	int rc = whole(call, handle, MEASURE_REMAPPED_CORRECTABLE, correctable);

	if (rc == NVML_SUCCESS)
		rc = whole(call, handle, MEASURE_REMAPPED_UNCORRECTABLE, uncorrectable);
	if (rc == NVML_SUCCESS)
		rc = whole(call, handle, MEASURE_REMAPPED_PENDING, pending);
	if (rc == NVML_SUCCESS)
		rc = whole(call, handle, MEASURE_REMAPPED_FAILED, failed);
	return rc;
}
#endif

#if FAKE_DRIVER >= 3
struct sample {
	bool taken;
	double gpm[MEASURE_COUNT];
};

int nvmlGpmQueryDeviceSupport(const void *handle, struct nvml_gpm_support *support)
{
	double value = 0;

	if (support->version != NVML_GPM_VERSION)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	int rc = measure("nvmlGpmQueryDeviceSupport", handle, MEASURE_GPM_GRAPHICS, &value);
	support->supported = rc == NVML_SUCCESS;
	return rc == NVML_ERROR_NOT_SUPPORTED ? NVML_SUCCESS : rc;
}

int nvmlGpmSampleAlloc(void **sample)
{
	*sample = calloc(1, sizeof(struct sample));
	return *sample != NULL ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

int nvmlGpmSampleFree(void *sample)
{
	free(sample);
	return NVML_SUCCESS;
}

int nvmlGpmSampleGet(const void *handle, void *sample)
{
	struct topology *t;
	int gpu;
	struct sample *to = sample;
	int rc = answer_device("nvmlGpmSampleGet", handle, &t, &gpu);

	if (rc != NVML_SUCCESS)
		return rc;
	if (t->gpu[gpu].measures[MEASURE_GPM_GRAPHICS] < 0)
		return NVML_ERROR_NOT_SUPPORTED;
	to->taken = true;
	for (int i = 0; i < MEASURE_COUNT; i++)
		to->gpm[i] = t->gpu[gpu].measures[i];
	return NVML_SUCCESS;
}

/* The later sample's figures: the fake's devices are as they are from one sample to the next. */
int nvmlGpmMetricsGet(struct nvml_gpm_metrics *metrics)
{
	static const struct {
		unsigned id;
		enum measure which;
	} known[] = {{1, MEASURE_GPM_GRAPHICS}, {2, MEASURE_GPM_SM}, {3, MEASURE_GPM_OCCUPANCY},
		{5, MEASURE_GPM_TENSOR}, {10, MEASURE_GPM_DRAM}, {20, MEASURE_GPM_PCIE_TX},
		{21, MEASURE_GPM_PCIE_RX}};
	const struct sample *first = metrics->sample1, *second = metrics->sample2;

	if (metrics->version != NVML_GPM_VERSION)
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (first == NULL || second == NULL || !first->taken || !second->taken)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (unsigned i = 0; i < metrics->count; i++) {
		struct nvml_gpm_metric *metric = &metrics->metrics[i];
		metric->code = NVML_ERROR_NOT_SUPPORTED;
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
			if (known[k].id != metric->id)
				continue;
			metric->code = NVML_SUCCESS;
			metric->value = second->gpm[known[k].which];
		}
	}
	return NVML_SUCCESS;
}
#endif
