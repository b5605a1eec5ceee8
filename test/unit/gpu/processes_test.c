/* NVML's lists of processes: their versions, their growth, and each process once. */
#include "sampler_bed.h"

static void expect_pids_of(const char *library)
{
	struct bed *b = bed_create(library);
	bed_write(b, BED_ONE "process compute 4267 100\nprocess compute 11 unknown\n"
			     "process compute 4194303 7\nprocess graphics 12 3\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert(r->processes_told);
	cr_assert_eq(r->process_count, 4, "%s", library);
	static const struct gpu_process rows[] = {
		{.pid = 11, .mem_bytes = -1, .kinds = PROCESS_COMPUTE},
		{.pid = 12, .mem_bytes = 3ll << 20, .kinds = PROCESS_GRAPHICS},
		{.pid = 4267, .mem_bytes = 100ll << 20, .kinds = PROCESS_COMPUTE},
		{.pid = 4194303, .mem_bytes = 7ll << 20, .kinds = PROCESS_COMPUTE}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(r->processes[i].pid, rows[i].pid, "%s", library);
		cr_expect_eq(r->processes[i].mem_bytes, rows[i].mem_bytes, "%s", library);
		cr_expect_eq(r->processes[i].kinds, rows[i].kinds, "%s", library);
	}
	bed_destroy(b);
}

Test(processes, scenario_3_the_right_pids_from_every_version)
{
	expect_pids_of("libnvidia-ml.so.1");
	expect_pids_of("libnvidia-ml-older.so.1");
	expect_pids_of("libnvidia-ml-oldest.so.1");
}

/* The first version has entries of 16 bytes. Were they taken for 24, or the room for them reckoned
 * so, the 64 that there is room for at first would not come back as they are. */
Test(processes, scenario_3_as_many_as_there_is_room_for_in_the_first_version)
{
	struct bed *b = bed_create("libnvidia-ml-oldest.so.1");
	char text[8192] = BED_ONE;
	for (unsigned i = 1; i <= 64; i++) {
		(void)snprintf(text + strlen(text), sizeof text - strlen(text),
			"process compute %u %u\n", i, i);
	}
	bed_write(b, text);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(s->devices[0].process_count, 64);
	for (unsigned i = 0; i < 64; i++) {
		cr_expect_eq(s->devices[0].processes[i].pid, i + 1);
		cr_expect_eq(s->devices[0].processes[i].mem_bytes, (int64_t)(i + 1) << 20);
	}
	cr_assert_eq(s->retries, 0);
	bed_destroy(b);
}

/* What the driver cannot name here, as in another PID namespace, is somebody all the same. */
Test(processes, a_process_without_a_number_makes_the_list_unknown)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "process compute 7 10\nprocess compute 0 60000\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert(r->answered && !r->processes_told);
	cr_assert_eq(r->process_count, 0);
	bed_destroy(b);
}

Test(processes, scenario_6_memory_only_under_mig)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "mig 1 0\nminor 5\nprocess compute 7 10\nuse 7 50\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert(r->answered && r->device.mig && r->processes_told);
	cr_assert_not(r->process_use);
	cr_assert_eq(r->process_count, 1);
	cr_assert_eq(r->processes[0].mem_bytes, 10ll << 20);
	cr_assert_eq(r->processes[0].sm, -1);
	cr_assert_eq(r->figures[FIGURE_GPU_UTIL], GPU_UNKNOWN);
	cr_assert_eq(r->figures[FIGURE_PROF_SM_ACTIVE], GPU_UNKNOWN);
	cr_assert_eq(r->figures[FIGURE_FB_TOTAL], 81559ll << 20);
	cr_assert_eq(r->device.identity.minor, 5);
	cr_assert_eq(b->sample.errors, 0);
	bed_destroy(b);
}

Test(processes, scenario_6_without_utilisation_of_processes_for_another_reason)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "process compute 7 10\nreturn nvmlDeviceGetProcessUtilization 3\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert_not(r->process_use);
	cr_assert_eq(r->processes[0].sm, -1);
	cr_assert_eq(b->sample.errors, 0);
	bed_destroy(b);
}

Test(processes, scenario_7_a_list_that_grows_while_it_is_read)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "process compute 7 10\n"
			     "grow nvmlDeviceGetComputeRunningProcesses_v3 3\n");
	const struct gpu_sample *s = bed_look(b);
	cr_assert(s->devices[0].processes_told);
	cr_assert_eq(s->devices[0].process_count, 1);
	cr_assert_eq(s->retries, 2, "the first refusal only says how many there are");
	bed_destroy(b);
}

Test(processes, scenario_7_gives_up_on_a_list_that_always_grows)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "process compute 7 10\n"
			     "grow nvmlDeviceGetComputeRunningProcesses_v3 1000\n"
			     "device\nuuid " BED_B "\nprocess compute 8 10\n");
	const struct gpu_sample *s = bed_look(b);
	cr_assert(s->devices[0].answered);
	cr_assert_not(s->devices[0].processes_told, "not told is not none");
	cr_assert_eq(s->devices[0].process_count, 0);
	cr_assert_eq(s->errors, 1);
	cr_assert_eq(s->devices[1].process_count, 1);
	bed_destroy(b);
}

static char *many(unsigned count, const char *kind)
{
	size_t size = 64 + (size_t)count * 48, at = 0;
	char *text = xmalloc(size);
	at += (size_t)snprintf(text, size, BED_ONE);
	for (unsigned i = 1; i <= count; i++) {
		at += (size_t)snprintf(text + at, size - at, "process %s %u 1\n", kind, i);
	}
	return text;
}

Test(processes, scenario_7_more_than_a_thousand)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	CLEANUP(cleanup_free) char *most = many(SAMPLE_PROCESSES_MAX, "compute");
	bed_write(b, most);
	const struct gpu_sample *s = bed_look(b);
	cr_assert_eq(s->devices[0].process_count, SAMPLE_PROCESSES_MAX);
	cr_assert_eq(s->devices[0].processes[4095].pid, 4096);
	CLEANUP(cleanup_free) char *beyond = many(SAMPLE_PROCESSES_MAX + 1, "mps");
	bed_write(b, beyond);
	s = bed_next(b);
	cr_assert(s->devices[0].answered);
	cr_assert_not(s->devices[0].processes_told);
	cr_assert_eq(s->errors, 1);
	bed_destroy(b);
}

Test(processes, scenario_11_one_process_in_two_lists_counts_once)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "process compute 20 30\nprocess compute 10 100\nprocess mps 10 100\n"
			     "process mps 11 50\nprocess graphics 10 unknown\n"
			     "process compute 12 unknown\nprocess mps 12 40\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert_eq(r->process_count, 4);
	const struct gpu_process *p = bed_process(r, 10);
	cr_assert_eq(p->mem_bytes, 100ll << 20);
	cr_assert_eq(p->kinds, PROCESS_COMPUTE | PROCESS_MPS_CLIENT | PROCESS_GRAPHICS);
	cr_assert_eq(bed_process(r, 11)->kinds, PROCESS_MPS_CLIENT);
	cr_assert_eq(bed_process(r, 12)->mem_bytes, 40ll << 20);
	bed_destroy(b);
}

Test(processes, scenario_11_memory_that_is_not_told_is_not_much)
{
	struct bed *b = bed_create("libnvidia-ml.so.1");
	bed_write(b, BED_ONE "process compute 10 unknown\nprocess mps 10 unknown\n");
	const struct gpu_reading *r = &bed_look(b)->devices[0];
	cr_assert_eq(r->process_count, 1);
	cr_assert_eq(r->processes[0].mem_bytes, -1);
	bed_destroy(b);
}

Test(processes, a_list_that_the_device_lacks_is_empty_and_one_that_fails_is_unknown)
{
	static const struct {
		const char *rule;
		bool told;
	} rows[] = {{"nvmlDeviceGetMPSComputeRunningProcesses_v3 3", true},
		{"nvmlDeviceGetGraphicsRunningProcesses_v3 3", true},
		{"nvmlDeviceGetMPSComputeRunningProcesses_v3 999", false},
		{"nvmlDeviceGetComputeRunningProcesses_v3 3", false},
		{"nvmlDeviceGetComputeRunningProcesses_v3 4", false},
		{"nvmlDeviceGetComputeRunningProcesses_v3 999", false}};
	struct bed *b = bed_create("libnvidia-ml.so.1");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[512];
		(void)snprintf(text, sizeof text, BED_ONE "process compute 7 10\nreturn %s\n",
			rows[i].rule);
		bed_write(b, text);
		const struct gpu_reading *r = &bed_next(b)->devices[0];
		cr_expect(r->answered, "%s", rows[i].rule);
		cr_expect_eq(r->processes_told, rows[i].told, "%s", rows[i].rule);
		cr_expect_eq(r->process_count, rows[i].told ? 1 : 0, "%s", rows[i].rule);
	}
	bed_destroy(b);
}
