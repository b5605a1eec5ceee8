/* Holding under MPS: how it ends. The life of the daemon is tested with the built binary. */
#include "capacity_mps.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../gpu/stub_library.h"
#include "base/str.h"
#include "watchdog.h"

/* As the stub names its only device. */
#define UUID "GPU-00000000-1111-2222-3333-444444444444"

static char folder[64], control[128], root[128];
static int checks;

static void setup(void)
{
	(void)snprintf(folder, sizeof folder, "/tmp/aliquot-hold-XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(control, sizeof control, "%s/control", folder);
	(void)snprintf(root, sizeof root, "%s/root", folder);
	(void)snprintf(stub_settings("nvml-stub")->uuid, 96, UUID);
	checks = 0;
}

static void teardown(void)
{
	char command[256];
	(void)snprintf(command, sizeof command, "rm -r %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(capacity_mps, .init = setup, .fini = teardown);

static struct capacity_options options(const char *script)
{
	struct capacity_options o;
	FILE *f = fopen(control, "w");
	cr_assert_not_null(f);
	(void)fputs(script, f);
	(void)fclose(f);
	cr_assert_eq(chmod(control, 0755), 0);
	capacity_options_init(&o);
	o.termination_log = NULL;
	o.nvml_library = stub_library("nvml-stub");
	o.mps_control = control;
	o.mps_root = root;
	o.mps_shm = NULL;
	o.check_ms = 10;
	return o;
}

static int serve(const struct capacity_options *o, capacity_check check, struct fault *ret_fault)
{
	return capacity_serve_mps(o, UUID, check, NULL, ret_fault);
}

static int well(void *data, struct fault *ret_fault)
{
	(void)data;
	(void)ret_fault;
	if (++checks == 5) {
		(void)raise(SIGTERM);
	}
	return 0;
}

static int lost(void *data, struct fault *ret_fault)
{
	(void)data;
	return fault_set(ret_fault, FAULT_GONE, "the GPU is lost");
}

Test(capacity_mps, ends_well_when_it_is_asked_to)
{
	struct capacity_options o = options("#!/bin/sh\necho 100.0\n");
	struct fault fault;
	cr_assert_eq(serve(&o, well, &fault), 0, "%s", fault.message);
	cr_expect_geq(checks, 5);
	cr_expect_eq(stub_settings("nvml-stub")->compute_mode, 0, "as it was");
}

static int well_twice(void *data, struct fault *ret_fault)
{
	(void)data;
	(void)ret_fault;
	checks++;
	if (checks == 5 || checks == 10) {
		(void)raise(SIGTERM);
	}
	return 0;
}

/* C39: its clients need the daemon as long as they are there; here none can be seen. */
Test(capacity_mps, c39_goes_on_for_tenants_and_asked_again_ends_where_it_sees_none)
{
	struct capacity_options o = options("#!/bin/sh\necho 100.0\n");
	struct fault fault;
	char path[160];
	(void)snprintf(path, sizeof path, "%s/in-use", folder);
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	(void)fputs("movable", f);
	(void)fclose(f);
	o.told_dir = folder;
	cr_assert_eq(serve(&o, well_twice, &fault), 0, "%s", fault.message);
	cr_expect_geq(checks, 10);
}

Test(capacity_mps, a_gpu_that_is_lost_ends_it)
{
	struct capacity_options o = options("#!/bin/sh\necho 100.0\n");
	struct fault fault = {0};
	cr_assert_eq(serve(&o, lost, &fault), -1);
	cr_expect_str_eq(fault.message, "the GPU is lost");
}

static int unasked(void *data, struct fault *ret_fault)
{
	(void)data;
	(void)ret_fault;
	return 0;
}

Test(capacity_mps, a_daemon_that_never_was_well_ends_it)
{
	struct capacity_options o = options("#!/bin/sh\necho no GPU here\nexit 1\n");
	struct fault fault = {0};
	o.mps_wait_ms = 300;
	cr_assert_eq(serve(&o, unasked, &fault), -1);
	/* How many seconds is the machine's affair: a busy one takes a while to start a shell. */
	cr_expect_not_null(strstr(fault.message, "MpsFailed: no healthy MPS daemon after "), "%s",
		fault.message);
	cr_expect_not_null(strstr(fault.message, "no GPU here"), "%s", fault.message);
}

Test(capacity_mps, a_driver_that_forbids_the_compute_mode_is_named)
{
	struct capacity_options o = options("#!/bin/sh\necho 100.0\n");
	struct fault fault = {0};
	stub_settings("nvml-stub")->compute_mode_code = 4;
	o.mps_wait_ms = 300;
	cr_assert_eq(serve(&o, unasked, &fault), -1);
	cr_expect_not_null(strstr(fault.message, "no permission"), "%s", fault.message);
}

static int hangs(void *data, struct fault *ret_fault)
{
	struct watchdog watchdog;
	(void)data;
	(void)ret_fault;
	watchdog_arm(&watchdog, 600000, NULL, "the driver hangs");
	(void)raise(SIGTERM);
	while (watchdog.armed) {
		(void)pause();
	}
	return 0;
}

/* A look that hangs blocks the loop, and with it whatever SIGTERM would begin. */
Test(capacity_mps, ends_when_it_is_asked_to_while_the_driver_hangs)
{
	struct capacity_options o = options("#!/bin/sh\necho 100.0\n");
	int status = -1;
	pid_t child = fork();
	if (child == 0) {
		struct fault fault;
		_exit(serve(&o, hangs, &fault) == 0 ? 40 : 41);
	}
	for (int i = 0; i < 800 && waitpid(child, &status, WNOHANG) == 0; i++) {
		(void)usleep(10000);
	}
	(void)kill(child, SIGKILL);
	cr_assert(WIFEXITED(status), "it hangs");
	cr_expect_eq(WEXITSTATUS(status), WATCHDOG_STATUS);
}

Test(capacity_mps, ready_follows_the_file_that_hold_writes)
{
	struct capacity_options o = options("#!/bin/sh\n");
	struct fault fault = {0};
	char identity[160], command[512];
	(void)snprintf(identity, sizeof identity, "%s/identity", folder);
	o.identity_file = identity;
	cr_expect_eq(capacity_ready(&o, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_NOT_FOUND, "no identity");
	cr_assert_eq(capacity_identify(&o, &fault), 0, "%s", fault.message);
	cr_expect_eq(capacity_ready(&o, &fault), -1);
	cr_expect_not_null(strstr(fault.message, "has not been healthy"), "%s", fault.message);
	(void)snprintf(command, sizeof command, "mkdir -p %s/" UUID " && touch %s/" UUID "/ready",
		root, root);
	cr_assert_eq(system(command), 0);
	cr_expect_eq(capacity_ready(&o, &fault), 0, "%s", fault.message);
}
