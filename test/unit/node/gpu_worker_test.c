/* The process that asks the driver: what it says reaches the loop, and what it does to itself does
 * not. */
#include "node/gpu_worker.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

#define UUID	"GPU-aaaaaaaa-1111-2222-3333-444444444444"
#define ONE	"device\nuuid " UUID "\n"
#define WAIT_MS 20000

struct bed {
	struct loop *loop;
	struct metric_registry *metrics;
	struct gpu_worker *worker;
	struct gpu_worker_config config;
	char program[4096], library[4096], topology[128];
	int samples, faults;
	const struct gpu_sample *sample;
	struct fault fault;
	int until_samples, until_faults;
	int64_t give_up_ms;
	bool late;
};

static void on_sample(void *data, const struct gpu_sample *sample)
{
	struct bed *b = data;
	b->samples++;
	b->sample = sample;
}

static void on_fault(void *data, const struct fault *why)
{
	struct bed *b = data;
	b->faults++;
	fault_copy(&b->fault, why);
}

static void on_turn(void *data)
{
	struct bed *b = data;
	int64_t now_ms = loop_now_ms();
	gpu_worker_step(b->worker, now_ms);
	b->late = now_ms >= b->give_up_ms;
	if (b->late || (b->samples >= b->until_samples && b->faults >= b->until_faults)) {
		loop_stop(b->loop);
	}
	loop_wake_at(b->loop, time_min(gpu_worker_deadline(b->worker), b->give_up_ms));
}

static void topology(struct bed *b, const char *text)
{
	char aside[200];
	(void)snprintf(aside, sizeof aside, "%s.new", b->topology);
	FILE *f = fopen(aside, "we");
	cr_assert_not_null(f);
	cr_assert(fputs(text, f) >= 0);
	cr_assert_eq(fclose(f), 0);
	cr_assert_eq(rename(aside, b->topology), 0);
}

static struct bed *bed_create(void)
{
	struct bed *b = xcalloc(1, sizeof *b);
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	cr_assert(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(b->program, sizeof b->program, "%s/node/probe-child", self);
	(void)snprintf(b->library, sizeof b->library, "%s/../fake/libnvidia-ml.so.1", self);
	(void)snprintf(b->topology, sizeof b->topology, "/tmp/aliquot-worker-%d", (int)getpid());
	cr_assert_eq(setenv("FAKE_NVML_TOPOLOGY", b->topology, 1), 0);
	topology(b, ONE);
	b->loop = loop_create();
	b->metrics = metric_registry_create();
	b->config = (struct gpu_worker_config){.loop = b->loop,
		.clock = &clock_system,
		.metrics = b->metrics,
		.program = b->program,
		.library = b->library,
		.interval_ms = 50,
		.deadline_ms = 5000,
		.first_deadline_ms = WAIT_MS,
		.on_sample = on_sample,
		.on_fault = on_fault,
		.data = b};
	loop_on_turn(b->loop, on_turn, b);
	return b;
}

static void begin(struct bed *b)
{
	b->worker = gpu_worker_create(&b->config);
}

static void end(struct bed *b)
{
	gpu_worker_destroy(b->worker);
	loop_destroy(b->loop);
	metric_registry_destroy(b->metrics);
	(void)unlink(b->topology);
	free(b);
}

/* Runs the loop until so many more of each have come. */
static void await(struct bed *b, int samples, int faults)
{
	b->until_samples = b->samples + samples;
	b->until_faults = b->faults + faults;
	b->give_up_ms = loop_now_ms() + WAIT_MS;
	loop_run(b->loop);
	cr_assert_not(
		b->late, "%d samples, %d faults: %s", b->samples, b->faults, b->fault.message);
}

static int64_t ends(struct bed *b, const char *labels)
{
	return metric_value(metric_get(
		b->metrics, METRIC_COUNTER, "aliquot_agent_probe_ends_total", "", labels));
}

/* The children of this process, dead ones included; *ret_pid is one of them. */
static int children(pid_t *ret_pid)
{
	char path[64], line[512] = "";
	int count = 0;
	(void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	FILE *f = fopen(path, "re");
	cr_assert_not_null(f);
	if (fgets(line, sizeof line, f) != NULL) {
		for (char *at = line, *rest; *at != '\0'; at = rest) {
			long pid = strtoll(at, &rest, 10);
			if (rest == at) {
				break;
			}
			*ret_pid = (pid_t)pid;
			count++;
		}
	}
	(void)fclose(f);
	return count;
}

static int descriptors(void)
{
	int count = 0;
	DIR *d = opendir("/proc/self/fd");
	cr_assert_not_null(d);
	while (readdir(d) != NULL) {
		count++;
	}
	(void)closedir(d);
	return count;
}

Test(gpu_worker, brings_look_after_look_from_one_child)
{
	struct bed *b = bed_create();
	pid_t first = 0, last = 0;
	topology(b, ONE "process compute 7 10\nprocess compute 9 unknown\n");
	begin(b);
	await(b, 1, 0);
	cr_assert_eq(children(&first), 1);
	cr_assert_eq(b->sample->device_count, 1);
	cr_assert_str_eq(b->sample->devices[0].device.identity.uuid, UUID);
	cr_assert_eq(b->sample->devices[0].process_count, 2);
	cr_assert_eq(b->sample->devices[0].processes[1].mem_bytes, -1);
	topology(b, ONE);
	await(b, 3, 0);
	cr_assert_eq(b->sample->devices[0].process_count, 0);
	cr_assert_eq(b->faults, 0);
	cr_assert_eq(children(&last), 1);
	cr_assert_eq(first, last);
	end(b);
	cr_assert_eq(children(&last), 0, "nothing is left behind");
}

Test(gpu_worker, scenario_1_and_2_the_library_or_the_driver_comes_later)
{
	struct bed *b = bed_create();
	char real[4096];
	(void)snprintf(real, sizeof real, "%s", b->library);
	(void)snprintf(b->library, sizeof b->library, "/tmp/aliquot-worker-%d.so", (int)getpid());
	begin(b);
	await(b, 0, 2);
	cr_assert_not_null(strstr(b->fault.message, "cannot load NVML"), "%s", b->fault.message);
	topology(b, "return nvmlInit_v2 18\n" ONE);
	cr_assert_eq(symlink(real, b->library), 0);
	for (int i = 0; i < 200 && strstr(b->fault.message, "different versions") == NULL; i++) {
		await(b, 0, 1);
	}
	cr_assert_not_null(strstr(b->fault.message, "different versions"), "%s", b->fault.message);
	topology(b, ONE);
	await(b, 1, 0);
	cr_assert_eq(ends(b, "reason=\"died\"") + ends(b, "reason=\"hung\""), 0,
		"no child had to end for it");
	(void)unlink(b->library);
	end(b);
}

Test(gpu_worker, scenario_30_a_driver_that_hangs_is_left_to_its_child)
{
	struct bed *b = bed_create();
	b->config.deadline_ms = 200;
	begin(b);
	await(b, 1, 0);
	topology(b, "delay-ms nvmlDeviceGetPowerUsage 60000\n" ONE);
	int64_t began_ms = loop_now_ms();
	await(b, 0, 1);
	cr_assert_lt(loop_now_ms() - began_ms, 15000);
	cr_assert_eq(b->fault.kind, FAULT_TRANSIENT);
	cr_assert_not_null(strstr(b->fault.message, "does not answer"), "%s", b->fault.message);
	cr_assert_eq(ends(b, "reason=\"hung\""), 1);
	cr_assert_eq(b->sample->device_count, 1, "the last look is still there to be shown");
	topology(b, ONE);
	await(b, 2, 0);
	end(b);
}

static void await_device(struct bed *b, uint32_t device, bool answers)
{
	int64_t until_ms = loop_now_ms() + WAIT_MS;
	while (b->sample == NULL || b->sample->device_count <= device ||
		b->sample->devices[device].answered != answers) {
		await(b, 1, 0);
		cr_assert_lt(loop_now_ms(), until_ms, "device %u", device);
	}
}

Test(gpu_worker, scenario_30_one_device_that_hangs_hides_no_other)
{
	static const char three[] = ONE "device\nuuid GPU-b\n%sdevice\nuuid GPU-c\n";
	char text[512];
	struct bed *b = bed_create();
	b->config.deadline_ms = 300;
	b->config.try_ms = 1500;
	(void)snprintf(text, sizeof text, three, "");
	topology(b, text);
	begin(b);
	await_device(b, 2, true);
	(void)snprintf(text, sizeof text, three, "delay-ms nvmlDeviceGetPowerUsage 60000\n");
	topology(b, text);
	await_device(b, 1, false);
	const struct gpu_reading *ill = &b->sample->devices[1];
	cr_assert_eq(b->sample->device_count, 3);
	cr_assert_str_eq(ill->device.identity.uuid, "GPU-b", "the new child never heard of it");
	cr_assert_not_null(strstr(ill->ill, "did not come back"), "%s", ill->ill);
	cr_assert(b->sample->devices[0].answered && b->sample->devices[2].answered);
	/* It is tried again, and that costs no more than a moment. */
	int hung = (int)ends(b, "reason=\"hung\"");
	int64_t until_ms = loop_now_ms() + WAIT_MS;
	while (ends(b, "reason=\"hung\"") == hung) {
		await(b, 1, 0);
		cr_assert_lt(loop_now_ms(), until_ms);
	}
	await(b, 2, 0);
	cr_assert_not(b->sample->devices[1].answered);
	cr_assert(b->sample->devices[0].answered && b->sample->devices[2].answered);
	(void)snprintf(text, sizeof text, three, "");
	topology(b, text);
	await_device(b, 1, true);
	cr_assert_null(b->sample->devices[1].ill);
	end(b);
}

Test(gpu_worker, scenario_30_a_library_that_crashes_takes_only_its_child)
{
	struct bed *b = bed_create();
	begin(b);
	await(b, 1, 0);
	topology(b, "crash nvmlDeviceGetPowerUsage 0\n" ONE);
	await(b, 0, 3);
	cr_assert_not_null(strstr(b->fault.message, "signal 6"), "%s", b->fault.message);
	cr_assert_geq(ends(b, "reason=\"died\""), 3);
	topology(b, ONE);
	await(b, 2, 0);
	end(b);
}

Test(gpu_worker, scenario_30_a_lost_device_is_told_and_comes_back)
{
	struct bed *b = bed_create();
	begin(b);
	await(b, 1, 0);
	topology(b, ONE "return nvmlDeviceGetUUID 15\n");
	await(b, 2, 0);
	cr_assert_not(b->sample->devices[0].answered);
	cr_assert_str_eq(b->sample->devices[0].device.identity.uuid, UUID);
	cr_assert_eq(b->sample->devices[0].fault.kind, FAULT_GONE);
	topology(b, ONE);
	await(b, 2, 0);
	cr_assert(b->sample->devices[0].answered);
	cr_assert_eq(b->faults, 0);
	end(b);
}

Test(gpu_worker, is_told_once_of_a_child_that_somebody_killed)
{
	struct bed *b = bed_create();
	pid_t child = 0;
	begin(b);
	await(b, 1, 0);
	cr_assert_eq(children(&child), 1);
	cr_assert_eq(kill(child, SIGKILL), 0);
	await(b, 1, 1);
	cr_assert_eq(b->faults, 1);
	cr_assert_not_null(strstr(b->fault.message, "signal 9"), "%s", b->fault.message);
	end(b);
}

Test(gpu_worker, waits_longer_before_each_new_child)
{
	struct bed *b = bed_create();
	topology(b, "crash nvmlInit_v2 0\n" ONE);
	begin(b);
	await(b, 0, 1);
	int64_t at_ms = loop_now_ms();
	await(b, 0, 3);
	/* At least half of 0.5, 1 and 2 s. */
	cr_assert_geq(loop_now_ms() - at_ms, 1500);
	end(b);
}

Test(gpu_worker, ends_a_child_that_talks_nonsense)
{
	static const struct {
		const char *library, *words;
	} rows[] = {{"play:noise", "does not begin as one"},
		{"play:chatter", "does not begin as one"}, {"play:marks", "does not begin as one"},
		{"play:leave", "status 3"}};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct bed *b = bed_create();
		b->config.library = rows[i].library;
		begin(b);
		await(b, 0, 2);
		cr_expect_not_null(strstr(b->fault.message, rows[i].words), "%s", b->fault.message);
		cr_expect_eq(b->samples, 0);
		end(b);
	}
}

Test(gpu_worker, ends_a_child_that_answers_twice)
{
	struct bed *b = bed_create();
	b->config.library = "play:eager";
	b->config.interval_ms = 3600000;
	begin(b);
	while (ends(b, "reason=\"nonsense\"") == 0) {
		await(b, 0, 1);
	}
	cr_assert_eq(b->fault.kind, FAULT_INVALID, "%s", b->fault.message);
	end(b);
}

Test(gpu_worker, says_that_its_program_cannot_be_started)
{
	struct bed *b = bed_create();
	b->config.program = "/nonexistent/aliquot";
	begin(b);
	await(b, 0, 1);
	cr_assert_not_null(
		strstr(b->fault.message, "could not be started"), "%s", b->fault.message);
	end(b);
}

Test(gpu_worker, hands_its_child_no_descriptor)
{
	struct bed *b = bed_create();
	int spare[2];
	cr_assert_eq(pipe(spare), 0);
	b->config.library = "play:descriptors";
	begin(b);
	await(b, 0, 1);
	cr_assert_not_null(strstr(b->fault.message, "status 0"), "%s", b->fault.message);
	(void)close(spare[0]);
	(void)close(spare[1]);
	end(b);
}

Test(gpu_worker, leaks_neither_descriptors_nor_children)
{
	struct bed *b = bed_create();
	pid_t child = 0;
	begin(b);
	await(b, 1, 0);
	int before = descriptors();
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(children(&child), 1);
		cr_assert_eq(kill(child, SIGKILL), 0);
		await(b, 1, 1);
	}
	cr_assert_eq(descriptors(), before);
	cr_assert_eq(children(&child), 1);
	end(b);
}

Test(gpu_worker, looks_sooner_for_who_wants_it_fresh)
{
	struct bed *b = bed_create();
	b->config.interval_ms = 3600000;
	int64_t at_ms = loop_now_ms();
	begin(b);
	await(b, 1, 0);
	gpu_worker_refresh(b->worker);
	await(b, 1, 0);
	cr_assert_geq(b->sample->taken_ms - at_ms, GPU_WORKER_FRESH_MS);
	end(b);
}

/* The child must not outlive an agent that is killed. */
Test(gpu_worker, its_child_ends_with_it)
{
	int ends_of_pipe[2];
	cr_assert_eq(pipe(ends_of_pipe), 0);
	pid_t agent = fork();
	if (agent == 0) {
		struct bed *b = bed_create();
		pid_t child = 0;
		topology(b, "delay-ms nvmlDeviceGetPowerUsage 600000\n" ONE);
		begin(b);
		gpu_worker_step(b->worker, loop_now_ms());
		if (children(&child) == 1 && write(ends_of_pipe[1], &child, sizeof child) > 0) {
			(void)raise(SIGKILL);
		}
		_exit(1);
	}
	pid_t child = 0;
	int status = 0;
	cr_assert_eq(read(ends_of_pipe[0], &child, sizeof child), (ssize_t)sizeof child);
	cr_assert_eq(waitpid(agent, &status, 0), agent);
	cr_assert(WIFSIGNALED(status));
	char state_path[64];
	(void)snprintf(state_path, sizeof state_path, "/proc/%d/stat", (int)child);
	int64_t give_up_ms = loop_now_ms() + WAIT_MS;
	bool gone = false;
	while (!gone && loop_now_ms() < give_up_ms) {
		char line[256] = "";
		FILE *f = fopen(state_path, "re");
		gone = f == NULL || fgets(line, sizeof line, f) == NULL ||
		       strstr(line, ") Z ") != NULL;
		if (f != NULL) {
			(void)fclose(f);
		}
	}
	cr_assert(gone);
}

Test(gpu_worker, remembers_an_xid_for_a_child_that_ended)
{
	struct bed *b = bed_create();
	pid_t child = 0;
	begin(b);
	await(b, 1, 0);
	topology(b, ONE "xid 79\n");
	await(b, 2, 0);
	cr_assert_eq(b->sample->devices[0].ill_xid, 79);
	cr_assert_eq(children(&child), 1);
	cr_assert_eq(kill(child, SIGKILL), 0);
	await(b, 2, 1);
	cr_assert_eq(b->sample->devices[0].figures[FIGURE_XID], 79);
	cr_assert_str_eq(b->sample->devices[0].ill, "XID 79: the GPU has fallen off the bus");
	end(b);
}
