/* The look as a whole: a library that is missing or fails, devices that are lost. Scenario numbers
 * are those of the list of behaviours for machines without a GPU (docs/design/sampling.md). */
#include "sampler_bed.h"

#define TWO BED_ONE "device\nuuid " BED_B "\n"

Test(sampler, scenario_1_a_library_that_appears_later)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	char real[4096];
	(void)snprintf(real, sizeof real, "%s", b->library);
	(void)snprintf(b->library, sizeof b->library, "/tmp/aliquot-library-%d.so", (int)getpid());
	bed_write(b, BED_ONE);
	cr_assert_eq(bed_try(b), -1);
	cr_assert_eq(b->fault.kind, FAULT_TRANSIENT);
	cr_assert_not_null(strstr(b->fault.message, "cannot load NVML"), "%s", b->fault.message);
	cr_assert_eq(symlink(real, b->library), 0);
	/* Asked again at once it does not try: the fault is the last one. */
	cr_assert_eq(bed_try(b), -1);
	cr_assert_not_null(strstr(b->fault.message, "cannot load NVML"));
	bed_pass(b, 1000);
	cr_assert_eq(bed_look(b)->device_count, 1);
	cr_assert_eq(unlink(b->library), 0);
	cr_assert_eq(bed_next(b)->device_count, 1, "what is loaded stays so");
	bed_destroy(b);
}

Test(sampler, scenario_2_a_driver_that_is_not_loaded_or_was_upgraded)
{
	static const struct {
		const char *rule, *words;
	} rows[] = {{"return nvmlInit_v2 9\n", "not loaded"},
		{"return nvmlInit_v2 18\n", "different versions"},
		{"return nvmlInit_v2 999\n", "unknown error"},
		{"return nvmlDeviceGetCount_v2 1\n", "not initialised"},
		{"return nvmlDeviceGetUUID 18\n", "different versions"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed *b = bed_create("libnvidia-ml.so.1");
		char text[512];
		(void)snprintf(text, sizeof text, "%s" BED_ONE, rows[i].rule);
		bed_write(b, text);
		cr_assert_eq(bed_try(b), -1);
		cr_expect_eq(b->fault.kind, FAULT_TRANSIENT, "%s", b->fault.message);
		cr_expect_not_null(strstr(b->fault.message, rows[i].words), "%s", b->fault.message);
		bed_write(b, BED_ONE);
		bed_pass(b, 1000);
		cr_assert_eq(bed_look(b)->device_count, 1);
		bed_destroy(b);
	}
}

Test(sampler, scenario_2_waits_longer_from_attempt_to_attempt)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, "return nvmlInit_v2 18\n" BED_ONE);
	/* Attempts are counted by the library's words changing. */
	int64_t last_ms = b->mono_ms, waited_ms = 0;
	cr_assert_eq(bed_try(b), -1);
	for (int attempt = 0; attempt < 8; attempt++) {
		bool mismatch = strstr(b->fault.message, "different versions") != NULL;
		bed_write(b, mismatch ? "return nvmlInit_v2 9\n" BED_ONE
				      : "return nvmlInit_v2 18\n" BED_ONE);
		char before[FAULT_MESSAGE_MAX];
		memcpy(before, b->fault.message, sizeof before);
		do {
			bed_pass(b, 100);
			cr_assert_eq(bed_try(b), -1);
		} while (strcmp(before, b->fault.message) == 0);
		waited_ms = b->mono_ms - last_ms;
		last_ms = b->mono_ms;
		cr_expect_leq(waited_ms, 30000);
	}
	cr_expect_geq(waited_ms, 15000, "%lld", (long long)waited_ms);
	bed_destroy(b);
}

Test(sampler, describes_what_answers)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, "driver 550.54.15\ncuda 12040\n" BED_ONE
		     "minor 3\nbus-id 00000000:41:00.0\nmemory-mib 1000\nreserved-mib 100\n"
		     "used-mib 200\n");
	const struct gpu_sample *s = bed_look(b);
	cr_assert_str_eq(s->driver, "550.54.15");
	cr_assert_eq(s->cuda, 12040);
	cr_assert_eq(s->device_count, 1);
	const struct gpu_reading *r = &s->devices[0];
	cr_assert(r->answered && r->processes_told && r->process_use);
	cr_assert_null(r->ill);
	cr_assert_str_eq(r->device.identity.uuid, BED_A);
	cr_assert_str_eq(r->pci_bus_id, "00000000:41:00.0");
	cr_assert_eq(r->device.identity.minor, 3);
	cr_assert_eq(r->device.identity.mem_mib, 900);
	cr_assert_eq(r->figures[FIGURE_FB_TOTAL], 1000ll << 20);
	cr_assert_eq(r->figures[FIGURE_FB_RESERVED], 100ll << 20);
	cr_assert_eq(r->figures[FIGURE_FB_USED], 200ll << 20);
	cr_assert_eq(r->figures[FIGURE_FB_FREE], 700ll << 20);
	cr_assert_eq(s->errors + s->dropped + s->retries, 0);
	cr_assert_eq(s->taken_ms, b->mono_ms);
	bed_destroy(b);
}

/* GB10: its memory is the machine's, and the driver tells none. All else is told, and it is well.
 */
Test(sampler, a_device_with_unified_memory_answers)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "minor 0\nreturn nvmlDeviceGetMemoryInfo 3\nreturn "
			     "nvmlDeviceGetMemoryInfo_v2 3\nprocess compute 7 10\n");
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(s->device_count, 1);
	const struct gpu_reading *r = &s->devices[0];
	cr_assert(r->answered, "%s", r->fault.message);
	cr_assert_null(r->ill);
	cr_assert_str_eq(r->device.identity.uuid, BED_A);
	cr_assert_eq(r->device.identity.mem_mib, 0);
	cr_assert_eq(r->figures[FIGURE_FB_TOTAL], GPU_UNKNOWN);
	cr_assert_eq(r->figures[FIGURE_FB_USED], GPU_UNKNOWN);
	cr_assert_eq(r->process_count, 1);
	bed_destroy(b);
}

Test(sampler, scenario_30_a_lost_device_stops_no_other)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, TWO);
	cr_assert_eq(bed_look(b)->device_count, 2);
	static const char *const calls[] = {"nvmlDeviceGetUUID", "nvmlDeviceGetPowerUsage",
		"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetProcessUtilization",
		"nvmlGpmSampleGet", "nvmlDeviceGetMemoryInfo"};
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		char text[512];
		(void)snprintf(text, sizeof text,
			BED_ONE "return %s 15\nreturn nvmlDeviceGetMemoryInfo_v2 25\n"
				"process compute 7 10\ndevice\nuuid " BED_B
				"\nprocess compute 8 10\n",
			calls[i]);
		bed_write(b, text);
		const struct gpu_sample *s = bed_next(b);
		cr_assert_eq(s->device_count, 2);
		const struct gpu_reading *lost = &s->devices[0], *well = &s->devices[1];
		cr_expect(!lost->answered && !lost->processes_told, "%s", calls[i]);
		cr_expect_eq(lost->fault.kind, FAULT_GONE, "%s", calls[i]);
		cr_expect_str_eq(lost->ill, lost->fault.message);
		cr_expect_str_eq(lost->device.identity.uuid, BED_A, "its name is remembered");
		cr_expect_eq(lost->figures[FIGURE_FB_TOTAL], GPU_UNKNOWN);
		cr_expect_eq(lost->figures[FIGURE_GPU_UTIL], GPU_UNKNOWN);
		cr_expect_eq(lost->process_count, 0);
		cr_expect(well->answered && well->processes_told);
		cr_expect_eq(well->process_count, 1);
		bed_write(b, TWO);
		s = bed_next(b);
		cr_assert(s->devices[0].answered, "%s", s->devices[0].fault.message);
		cr_assert_null(s->devices[0].ill);
	}
	bed_destroy(b);
}

Test(sampler, scenario_30_a_device_that_never_answered_has_no_name)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "return nvmlDeviceGetUUID 15\n");
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(s->device_count, 1);
	cr_assert_not(s->devices[0].answered);
	cr_assert_str_empty(s->devices[0].device.identity.uuid);
	cr_assert_not_null(s->devices[0].ill);
	bed_destroy(b);
}

static void on_device(void *data, uint32_t index)
{
	uint64_t *asked = data;
	*asked |= UINT64_C(1) << index;
}

Test(sampler, scenario_30_a_device_that_is_left_out_is_not_touched)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	uint64_t asked = 0;
	bed_write(b, TWO);
	sampler_watch(b->sampler, on_device, &asked);
	cr_assert_eq(bed_look(b)->device_count, 2);
	cr_assert_eq(asked, 3);
	asked = 0;
	sampler_leave_out(b->sampler, 2);
	bed_write(b, TWO "crash nvmlDeviceGetHandleByIndex_v2 0\n"
			 "crash nvmlDeviceGetUUID 0\ncrash nvmlDeviceGetPowerUsage 0\n");
	const struct gpu_sample *s = bed_next(b);
	cr_assert_eq(asked, 1);
	cr_assert(s->devices[0].answered && s->devices[0].index == 0);
	cr_assert_not(s->devices[1].answered);
	cr_assert_eq(s->devices[1].index, 1);
	cr_assert_not(s->devices[1].processes_told);
	cr_assert_eq(s->devices[1].fault.kind, FAULT_TRANSIENT);
	cr_assert_str_eq(s->devices[1].device.identity.uuid, BED_B);
	cr_assert_not_null(s->devices[1].ill);
	bed_write(b, TWO);
	sampler_leave_out(b->sampler, 0);
	cr_assert(bed_next(b)->devices[1].answered);
	bed_destroy(b);
}

Test(sampler, finds_a_device_after_its_reset_by_opening_anew)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE);
	(void)bed_look(b);
	bed_write(b, BED_ONE "return nvmlDeviceGetUUID 15\n");
	(void)bed_next(b);
	/* It can be seen to open anew only by a library that refuses to. */
	bed_write(b, "return nvmlInit_v2 9\n" BED_ONE "return nvmlDeviceGetUUID 15\n");
	(void)bed_next(b);
	(void)bed_next(b);
	bed_pass(b, 45000);
	cr_assert_eq(bed_try(b), -1);
	cr_assert_not_null(strstr(b->fault.message, "not loaded"));
	bed_write(b, BED_ONE);
	cr_assert(bed_next(b)->devices[0].answered);
	bed_destroy(b);
}

Test(sampler, does_not_open_anew_for_what_will_not_change)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	/* A library that refuses to be opened again shows that it is not. */
	bed_write(b, BED_ONE);
	(void)bed_look(b);
	bed_write(b, "return nvmlInit_v2 9\n" BED_ONE "return nvmlDeviceGetName 3\n");
	for (int look = 0; look < 10; look++) {
		cr_assert_not(bed_next(b)->devices[0].answered);
	}
	bed_destroy(b);
}

Test(sampler, passes_over_what_it_may_not_open)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, TWO "return nvmlDeviceGetHandleByIndex_v2 0\n");
	cr_assert_eq(bed_look(b)->device_count, 2);
	bed_write(b, "return nvmlDeviceGetHandleByIndex_v2 4\n" TWO);
	cr_assert_eq(bed_next(b)->device_count, 0);
	bed_destroy(b);
}

/* Every call may fail in every way: no figure is invented, nothing is leaked, and a look follows.
 */
Test(sampler, takes_every_code_of_every_call)
{
	static const char *const calls[] = {"nvmlDeviceGetUUID", "nvmlDeviceGetName",
		"nvmlDeviceGetMinorNumber", "nvmlDeviceGetMemoryInfo_v2", "nvmlDeviceGetMigMode",
		"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetUtilizationRates",
		"nvmlDeviceGetClockInfo", "nvmlDeviceGetTemperature", "nvmlDeviceGetPowerUsage",
		"nvmlDeviceGetTotalEnergyConsumption", "nvmlDeviceGetPcieReplayCounter",
		"nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization",
		"nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetRemappedRows",
		"nvmlDeviceGetFieldValues", "nvmlDeviceGetComputeRunningProcesses_v3",
		"nvmlDeviceGetMPSComputeRunningProcesses_v3",
		"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetProcessUtilization",
		"nvmlDeviceGetSamples", "nvmlGpmQueryDeviceSupport", "nvmlGpmSampleGet",
		"nvmlDeviceRegisterEvents", "nvmlEventSetCreate", "nvmlEventSetWait_v2",
		"nvmlSystemGetDriverVersion", "nvmlDeviceGetCount_v2",
		"nvmlDeviceGetHandleByIndex_v2"};
	static const int codes[] = {
		1, 2, 3, 4, 6, 7, 9, 10, 11, 14, 15, 16, 17, 18, 25, 28, 999, 4711};
	struct bed *b = bed_create("libnvidia-ml.so.1");
	for (size_t i = 0; i < COUNT_OF(calls) * COUNT_OF(codes); i++) {
		const char *call = calls[i / COUNT_OF(codes)];
		char text[512];
		(void)snprintf(text, sizeof text,
			"return %s %d\n" BED_ONE "process compute 7 10\nuse 7 50\n", call,
			codes[i % COUNT_OF(codes)]);
		bed_write(b, text);
		bed_pass(b, 120000);
		for (int look = 0; look < 2; look++) {
			if (bed_try(b) != 0) {
				cr_expect_str_not_empty(b->fault.message);
				continue;
			}
			for (uint32_t k = 0; k < b->sample.device_count; k++) {
				const struct gpu_reading *r = &b->sample.devices[k];
				cr_expect(r->answered || (r->ill != NULL && !r->processes_told),
					"%s", text);
				cr_expect_eq(r->answered, r->fault.kind == FAULT_NONE, "%s", text);
				cr_expect(r->processes_told || r->process_count == 0, "%s", text);
			}
			bed_pass(b, 1000);
		}
	}
	bed_write(b, BED_ONE);
	bed_pass(b, 120000);
	const struct gpu_sample *s = bed_look(b);
	cr_assert(s->devices[0].answered && s->devices[0].ill == NULL);
	bed_destroy(b);
}
