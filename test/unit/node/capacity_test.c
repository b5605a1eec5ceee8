/* The capacity pod's two commands on a probe made of an array, and once on a library. */
#include "node/capacity.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/str.h"
#include "own/capacity_text.h"
#include "../gpu/stub_library.h"
#include "node/capacity_main.h"

/* The probe of a test: a script of what each look finds. The last step repeats. */
struct step {
	enum fault_kind open, count, describe;
	bool hangs; /* describe does not come back */
	bool asked; /* it is asked to end meanwhile */
	uint32_t devices;
	const char *uuid;
	bool mig;
};

static struct script {
	struct gpu_probe probe;
	const struct step *steps;
	size_t count;
	int looks, opens, destroys;
} script;

static const struct step *step_now(void)
{
	size_t at = (size_t)script.looks;
	return &script.steps[at < script.count ? at : script.count - 1];
}

static int script_count(struct gpu_probe *p, uint32_t *ret_count, struct fault *ret_fault)
{
	(void)p;
	const struct step *s = step_now();
	if (s->count != FAULT_NONE) {
		script.looks++;
		return fault_set(ret_fault, s->count, "count says no");
	}
	*ret_count = s->devices;
	script.looks += s->devices != 1;
	return 0;
}

static int script_describe(
	struct gpu_probe *p, uint32_t index, struct gpu_device *ret_device, struct fault *ret_fault)
{
	(void)p;
	const struct step *s = step_now();
	script.looks++;
	cr_assert_eq(index, 0);
	if (s->asked) {
		(void)raise(SIGTERM);
	}
	while (s->hangs) {
		(void)pause();
	}
	if (s->describe != FAULT_NONE) {
		return fault_set(ret_fault, s->describe, "describe says no");
	}
	*ret_device = (struct gpu_device){.mig = s->mig};
	struct gpu_identity *id = &ret_device->identity;
	(void)snprintf(id->uuid, sizeof id->uuid, "%s", s->uuid);
	(void)snprintf(id->model, sizeof id->model, "NVIDIA \"H100\" \\ 80GB");
	(void)snprintf(id->driver, sizeof id->driver, "570.86.15");
	id->mem_mib = 81559;
	id->minor = 3;
	return 0;
}

static void script_destroy(struct gpu_probe *p)
{
	(void)p;
	script.destroys++;
}

static const struct gpu_probe_impl script_impl = {script_count, script_describe, script_destroy};

static int script_open(const char *library, struct gpu_probe **ret_probe, struct fault *ret_fault)
{
	cr_assert_str_eq(library, "the library");
	script.opens++;
	if (step_now()->open != FAULT_NONE) {
		enum fault_kind kind = step_now()->open;
		script.looks++;
		return fault_set(ret_fault, kind, "open says no");
	}
	script.probe.impl = &script_impl;
	*ret_probe = &script.probe;
	return 0;
}

#define STEPS(...) ((const struct step[]){__VA_ARGS__})
#define PLAY(...)                                                                                  \
	(script = (struct script){.steps = STEPS(__VA_ARGS__),                                     \
		 .count = sizeof STEPS(__VA_ARGS__) / sizeof(struct step)})
#define ONE_GPU                                                                                    \
	{                                                                                          \
		.devices = 1, .uuid = "GPU-a"                                                      \
	}

static char folder[64], identity_path[96], termination_path[96];

static struct capacity_options options(void)
{
	struct capacity_options o;
	capacity_options_init(&o);
	o.identity_file = identity_path;
	o.termination_log = termination_path;
	o.nvml_library = "the library";
	o.open_probe = script_open;
	o.check_ms = 1;
	return o;
}

static void setup(void)
{
	(void)snprintf(folder, sizeof folder, "/tmp/aliquot-capacity-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(identity_path, sizeof identity_path, "%s/identity", folder);
	(void)snprintf(termination_path, sizeof termination_path, "%s/log", folder);
}

static void teardown(void)
{
	(void)unlink(identity_path);
	(void)unlink(termination_path);
	cr_expect_eq(rmdir(folder), 0, "a file was left in %s", folder);
}

static const char *contents(const char *path)
{
	static char text[8192];
	FILE *f = fopen(path, "r");
	if (f == NULL) {
		return NULL;
	}
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	(void)fclose(f);
	return text;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	(void)fputs(text, f);
	(void)fclose(f);
}

/* SIGTERM as the kubelet would send it, before the first wait. */
static void stop_soon(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)raise(SIGTERM);
}

static void expect_refusal(const char *word)
{
	struct capacity_options o = options();
	struct fault fault = {0};
	cr_assert_eq(capacity_identify(&o, &fault), -1);
	cr_assert_eq(strncmp(fault.message, word, strlen(word)), 0, "%s", fault.message);
	cr_assert_str_eq(contents(termination_path), fault.message);
	cr_assert_null(contents(identity_path));
	cr_assert_eq(script.opens, 1, "waiting does not help here");
	cr_assert_eq(script.destroys, 1);
}

TestSuite(identify, .init = setup, .fini = teardown);
TestSuite(hold, .init = setup, .fini = teardown);
TestSuite(command, .init = setup, .fini = teardown);

Test(identify, writes_the_identity_twice)
{
	PLAY(ONE_GPU);
	struct capacity_options o = options();
	struct fault fault;
	struct gpu_identity id;
	cr_assert_eq(capacity_identify(&o, &fault), 0, "%s", fault.message);
	cr_assert_eq(
		identity_decode(contents(termination_path), &id, &fault), 0, "%s", fault.message);
	cr_assert_str_eq(id.uuid, "GPU-a");
	cr_assert_str_eq(id.model, "NVIDIA \"H100\" \\ 80GB");
	cr_assert_str_eq(id.driver, "570.86.15");
	cr_assert_eq(id.mem_mib, 81559);
	cr_assert_eq(id.minor, 3);
	cr_assert(strlen(contents(termination_path)) < 4096);
	cr_assert_eq(identity_decode(contents(identity_path), &id, &fault), 0, "%s", fault.message);
	cr_assert_str_eq(id.uuid, "GPU-a");
	cr_assert_eq(script.destroys, 1);
}

Test(identify, replaces_what_an_earlier_run_left)
{
	PLAY(ONE_GPU);
	char long_text[5001];
	memset(long_text, 'x', sizeof long_text - 1);
	long_text[sizeof long_text - 1] = '\0';
	put(identity_path, long_text);
	put(termination_path, long_text);
	struct capacity_options o = options();
	struct gpu_identity id;
	cr_assert_eq(capacity_identify(&o, NULL), 0);
	cr_assert_eq(identity_decode(contents(identity_path), &id, NULL), 0);
	cr_assert_eq(identity_decode(contents(termination_path), &id, NULL), 0);
}

Test(identify, refuses_no_gpu)
{
	PLAY({.devices = 0});
	expect_refusal("NoGPU: ");
}

Test(identify, refuses_two_gpus)
{
	PLAY({.devices = 2});
	expect_refusal("MultipleGPUs: 2 ");
}

Test(identify, refuses_mig)
{
	PLAY({.devices = 1, .uuid = "GPU-a", .mig = true});
	expect_refusal("Mig: GPU-a ");
}

Test(identify, gives_up_at_once_without_permission)
{
	PLAY({.open = FAULT_DENIED});
	struct capacity_options o = options();
	struct fault fault = {0};
	cr_assert_eq(capacity_identify(&o, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_DENIED);
	cr_assert_eq(script.opens, 1);
	cr_assert_str_eq(contents(termination_path), "open says no");
}

Test(identify, waits_for_the_driver)
{
	PLAY({.open = FAULT_TRANSIENT}, {.count = FAULT_TRANSIENT},
		{.devices = 1, .describe = FAULT_TRANSIENT}, ONE_GPU);
	struct capacity_options o = options();
	struct fault fault;
	cr_assert_eq(capacity_identify(&o, &fault), 0, "%s", fault.message);
	cr_assert_eq(script.opens, 4);
	cr_assert_eq(script.destroys, 3, "a probe that failed is given back");
}

Test(identify, waits_no_longer_than_it_may)
{
	PLAY({.open = FAULT_TRANSIENT});
	struct capacity_options o = options();
	struct fault fault = {0};
	o.wait_ms = 300;
	int64_t began = clock_mono(&clock_system);
	cr_assert_eq(capacity_identify(&o, &fault), -1);
	int64_t took = clock_mono(&clock_system) - began;
	cr_assert(took >= 300 && took < 10000, "took %lld ms", (long long)took);
	cr_assert(script.opens >= 2 && script.opens <= 8, "%d attempts", script.opens);
	cr_assert_not_null(strstr(fault.message, "open says no"));
	cr_assert_not_null(strstr(fault.message, "gave up"));
	cr_assert_str_eq(contents(termination_path), fault.message);
}

Test(identify, stops_waiting_when_told)
{
	PLAY({.open = FAULT_TRANSIENT});
	struct capacity_options o = options();
	struct fault fault = {0};
	stop_soon();
	cr_assert_eq(capacity_identify(&o, &fault), -1);
	cr_assert_not_null(strstr(fault.message, "stopped"));
	cr_assert_eq(script.opens, 1);
}

Test(identify, fails_where_the_identity_cannot_be_written)
{
	PLAY(ONE_GPU);
	struct capacity_options o = options();
	struct fault fault = {0};
	o.identity_file = "/proc/no/such/folder/identity";
	cr_assert_eq(capacity_identify(&o, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_NOT_FOUND);
	cr_assert_not_null(strstr(fault.message, "/proc/no/such/folder/identity"));
	cr_assert_str_eq(contents(termination_path), fault.message);
}

Test(identify, makes_no_file_in_dev)
{
	PLAY(ONE_GPU);
	struct capacity_options o = options();
	o.termination_log = "/dev/aliquot-no-such-termination-log";
	cr_assert_eq(capacity_identify(&o, NULL), 0);
	cr_assert_eq(access(o.termination_log, F_OK), -1);
}

static void identified(const char *uuid)
{
	struct gpu_identity id = {.mem_mib = 81559, .minor = 3, .model = "m", .driver = "d"};
	struct str text = STR_INIT(IDENTITY_TEXT_MAX);
	(void)snprintf(id.uuid, sizeof id.uuid, "%s", uuid);
	cr_assert(identity_write(&text, &id));
	put(identity_path, str_text(&text));
	str_finish(&text);
}

static struct fault expect_let_go(void)
{
	struct capacity_options o = options();
	struct fault fault = {0};
	cr_assert_eq(capacity_hold(&o, &fault), -1);
	cr_assert_str_eq(contents(termination_path), fault.message);
	cr_assert_eq(script.opens, script.destroys);
	return fault;
}

Test(hold, ends_well_when_told)
{
	PLAY(ONE_GPU);
	struct capacity_options o = options();
	struct fault fault;
	identified("GPU-a");
	o.check_ms = 3600000;
	stop_soon();
	cr_assert_eq(capacity_hold(&o, &fault), 0, "%s", fault.message);
	cr_assert_null(contents(termination_path));
	cr_assert_eq(script.destroys, 1);
}

/* C39: it is killed when its grace is over. One that is started anew may ask again. */
Test(hold, c39_goes_on_for_tenants_however_often_it_is_asked)
{
	static const struct {
		const char *text; /* NULL: there is no file */
		bool goes_on;
	} rows[] = {
		{"movable", true}, {"true", true}, {"false", false}, {"", false}, {NULL, false}};
	char path[128];
	(void)snprintf(path, sizeof path, "%s/in-use", folder);
	identified("GPU-a");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		/* The signals come in the middle of looks; the last one finds that the GPU is lost.
		 */
		PLAY(ONE_GPU, {.devices = 1, .uuid = "GPU-a", .asked = true}, ONE_GPU,
			{.devices = 1, .uuid = "GPU-a", .asked = true}, {.devices = 0});
		struct capacity_options o = options();
		struct fault fault;
		o.told_dir = folder;
		(void)unlink(path);
		if (rows[i].text != NULL) {
			put(path, rows[i].text);
		}
		cr_expect_eq(capacity_hold(&o, &fault), rows[i].goes_on ? -1 : 0, "row %zu", i);
		cr_expect_eq(script.looks, rows[i].goes_on ? 5 : 2, "row %zu: %d", i, script.looks);
	}
	(void)unlink(path);
}

Test(hold, refuses_another_gpu)
{
	PLAY(ONE_GPU);
	identified("GPU-b");
	struct fault fault = expect_let_go();
	cr_assert_eq(strncmp(fault.message, "DeviceChanged: ", 15), 0, "%s", fault.message);
	cr_assert_not_null(strstr(fault.message, "GPU-a"));
	cr_assert_not_null(strstr(fault.message, "GPU-b"));
	cr_expect_eq(script.looks, 1, "before it holds it, not at the next look");
}

Test(hold, wants_an_identity)
{
	PLAY(ONE_GPU);
	struct fault fault = expect_let_go();
	cr_assert_eq(fault.kind, FAULT_NOT_FOUND);
	cr_assert_not_null(strstr(fault.message, identity_path));
}

Test(hold, wants_an_identity_that_means_something)
{
	PLAY(ONE_GPU);
	put(identity_path, "{\"v\":2}");
	struct fault fault = expect_let_go();
	cr_assert_eq(fault.kind, FAULT_INVALID);
	cr_assert_not_null(strstr(fault.message, identity_path));
	put(identity_path, "");
	FILE *f = fopen(identity_path, "w");
	for (int i = 0; i <= IDENTITY_TEXT_MAX; i++) {
		(void)fputc(' ', f);
	}
	(void)fclose(f);
	fault = expect_let_go();
	cr_assert_eq(fault.kind, FAULT_LIMIT);
}

Test(hold, ends_when_the_gpu_is_lost)
{
	PLAY(ONE_GPU, ONE_GPU, {.devices = 1, .describe = FAULT_GONE});
	identified("GPU-a");
	cr_assert_eq(expect_let_go().kind, FAULT_GONE);
	cr_assert_eq(script.looks, 3);
}

Test(hold, ends_when_the_gpu_becomes_another_or_many)
{
	PLAY(ONE_GPU, {.devices = 1, .uuid = "GPU-c"});
	identified("GPU-a");
	cr_assert_eq(strncmp(expect_let_go().message, "DeviceChanged: ", 15), 0);
	PLAY(ONE_GPU, {.devices = 3});
	cr_assert_eq(strncmp(expect_let_go().message, "MultipleGPUs: ", 14), 0);
}

Test(hold, forgives_a_driver_that_is_silent_for_a_while)
{
	PLAY(ONE_GPU, {.count = FAULT_TRANSIENT}, {.count = FAULT_TRANSIENT},
		{.devices = 1, .describe = FAULT_TRANSIENT}, ONE_GPU, {.count = FAULT_TRANSIENT},
		{.count = FAULT_TRANSIENT}, {.count = FAULT_TRANSIENT}, {.count = FAULT_TRANSIENT});
	identified("GPU-a");
	cr_assert_eq(expect_let_go().kind, FAULT_TRANSIENT);
	cr_assert_eq(script.looks, 9, "three in a row are forgiven, the fourth is not");
}

/* What becomes of a process that runs this command on the script. */
static int status_of(
	int (*command)(const struct capacity_options *, struct fault *), int64_t patience_ms)
{
	struct capacity_options o = options();
	o.patience_ms = patience_ms;
	put(termination_path, "");
	pid_t child = fork();
	if (child == 0) {
		_exit(command(&o, NULL) == 0 ? 40 : 41);
	}
	int status = -1;
	cr_assert_eq(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(identify, ends_when_the_driver_hangs)
{
	PLAY({.devices = 1, .uuid = "GPU-a", .hangs = true});
	cr_assert_eq(status_of(capacity_identify, 100), 1);
	cr_assert_not_null(strstr(contents(termination_path), "does not answer"));
}

Test(hold, ends_when_the_driver_hangs_later)
{
	PLAY(ONE_GPU, ONE_GPU, {.devices = 1, .uuid = "GPU-a", .hangs = true});
	identified("GPU-a");
	cr_assert_eq(status_of(capacity_hold, 100), 1);
	cr_assert_not_null(strstr(contents(termination_path), "does not answer"));
}

/* The kubelet kills after ten seconds, and nobody would learn why. */
Test(hold, ends_when_it_is_asked_to_while_the_driver_hangs)
{
	struct timespec began, ended;
	PLAY(ONE_GPU, ONE_GPU, {.devices = 1, .uuid = "GPU-a", .hangs = true, .asked = true});
	identified("GPU-a");
	(void)clock_gettime(CLOCK_MONOTONIC, &began);
	cr_assert_eq(status_of(capacity_hold, 20000), 1);
	(void)clock_gettime(CLOCK_MONOTONIC, &ended);
	cr_expect_lt(ended.tv_sec - began.tv_sec, 8);
	cr_assert_not_null(strstr(contents(termination_path), "does not answer"));
}

/* Patience is for one look, not for the hold: all looks together outlast it. */
Test(hold, is_patient_with_each_look_anew)
{
	static struct step steps[1500];
	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		steps[i] = (struct step)ONE_GPU;
	}
	steps[COUNT_OF(steps) - 1].describe = FAULT_GONE;
	script = (struct script){.steps = steps, .count = COUNT_OF(steps)};
	identified("GPU-a");
	cr_assert_eq(status_of(capacity_hold, 1000), 41);
}

static int run(int argc, const char *const *argv)
{
	char *copy[8] = {NULL};
	cr_assert(argc < 8);
	for (int i = 0; i < argc; i++) {
		copy[i] = strdup(argv[i]);
	}
	int status = capacity_main(argc, copy);
	for (int i = 0; i < argc; i++) {
		free(copy[i]);
	}
	return status;
}
#define RUN(...) run((int)COUNT_OF(((const char *[]){__VA_ARGS__})), (const char *[]){__VA_ARGS__})

Test(command, refuses_what_means_nothing)
{
	cr_expect_eq(RUN("capacity"), 2);
	cr_expect_eq(RUN("capacity", "free", "--identity-file=x"), 2);
	cr_expect_eq(RUN("capacity", "identify"), 2);
	cr_expect_eq(RUN("capacity", "identify", "--identity-file="), 2);
	cr_expect_eq(RUN("capacity", "identify", "--no-such"), 2);
	cr_expect_eq(RUN("capacity", "identify", "--identity-file"), 2);
	cr_expect_eq(RUN("capacity", "identify", "hold", "--identity-file=x"), 2);
	cr_expect_eq(RUN("capacity", "identify", "--wait-seconds=-1"), 2);
	cr_expect_eq(RUN("capacity", "identify", "--wait-seconds=1.5"), 2);
	cr_expect_eq(RUN("capacity", "hold", "--check-seconds=0"), 2);
	cr_expect_eq(RUN("capacity", "--help"), 0);
}

Test(command, identifies_and_holds_through_the_library)
{
	char identity[128], termination[128], library[4200];
	struct gpu_identity id;
	(void)snprintf(identity, sizeof identity, "--identity-file=%s", identity_path);
	(void)snprintf(termination, sizeof termination, "--termination-log=%s", termination_path);
	(void)snprintf(library, sizeof library, "--nvml-library=%s", stub_library("nvml-stub"));
	struct nvml_stub *stub = stub_settings("nvml-stub");
	cr_assert_eq(RUN("capacity", "identify", identity, termination, library), 0);
	cr_assert_eq(identity_decode(contents(termination_path), &id, NULL), 0);
	cr_assert_str_eq(id.uuid, "GPU-00000000-1111-2222-3333-444444444444");
	cr_assert_eq(id.mem_mib, 81347);
	stop_soon();
	cr_assert_eq(RUN("capacity", "hold", identity, termination, library), 0);
	cr_assert_eq(stub->inits, 4, "each also asks for the compute mode");
	cr_assert_eq(stub->shutdowns, 4);
	stub->count = 2;
	cr_assert_eq(RUN("capacity", "identify", identity, termination, library), 1);
	cr_assert_eq(strncmp(contents(termination_path), "MultipleGPUs: ", 14), 0);
}
