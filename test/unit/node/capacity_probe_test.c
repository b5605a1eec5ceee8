/* What a probe tells of what it sees, on a driver made of a few numbers. */
#include "node/capacity.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "node/capacity_main.h"

static struct driver {
	struct gpu_probe probe;
	enum fault_kind open, count, describe;
	int heals_after; /* so many times; 0: never */
	uint32_t devices;
	int opens, closes;
} driver;

static int driver_count(struct gpu_probe *p, uint32_t *ret_count, struct fault *ret_fault)
{
	(void)p;
	if (driver.count != FAULT_NONE) {
		return fault_set(ret_fault, driver.count, "count says no");
	}
	*ret_count = driver.devices;
	return 0;
}

static int driver_describe(
	struct gpu_probe *p, uint32_t index, struct gpu_device *ret_device, struct fault *ret_fault)
{
	(void)p;
	cr_assert_eq(index, 0);
	if (driver.describe != FAULT_NONE) {
		return fault_set(ret_fault, driver.describe, "describe says no");
	}
	*ret_device = (struct gpu_device){.mig = false};
	snprintf(ret_device->identity.uuid, sizeof ret_device->identity.uuid, "GPU-a");
	return 0;
}

static void driver_destroy(struct gpu_probe *p)
{
	(void)p;
	driver.closes++;
}

static const struct gpu_probe_impl impl = {driver_count, driver_describe, driver_destroy};

static int driver_open(const char *library, struct gpu_probe **ret_probe, struct fault *ret_fault)
{
	(void)library;
	bool healed = driver.heals_after > 0 && driver.opens >= driver.heals_after;
	driver.opens++;
	if (driver.open != FAULT_NONE && !healed) {
		driver.closes++;
		return fault_set(ret_fault, driver.open, "open says no");
	}
	driver.probe.impl = &impl;
	*ret_probe = &driver.probe;
	return 0;
}

static char path[64];

/* What it says, or NULL where it fails. */
static const char *said(struct driver as, int64_t wait_ms)
{
	static char text[4096];
	struct capacity_options o;
	struct fault f = {0};
	driver = as;
	capacity_options_init(&o);
	o.open_probe = driver_open;
	o.termination_log = path;
	o.wait_ms = wait_ms;
	int result = capacity_probe(&o, &f);
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	cr_expect_eq(driver.opens, driver.closes, "a driver was left open");
	cr_expect(result == 0 || strcmp(text, f.message) == 0, "%s", text);
	return result == 0 ? text : NULL;
}

static void setup(void)
{
	snprintf(path, sizeof path, "/tmp/aliquot-probe-XXXXXX");
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

TestSuite(probe, .init = setup, .fini = teardown);

#define NONE "{\"v\":1,\"devices\":0,\"uuid\":\"\"}"

Test(probe, tells_the_only_gpu_by_its_uuid)
{
	cr_expect_str_eq(said((struct driver){.devices = 1}, 0),
		"{\"v\":1,\"devices\":1,\"uuid\":\"GPU-a\"}");
}

Test(probe, tells_how_many_there_are)
{
	cr_expect_str_eq(said((struct driver){.devices = 0}, 0), NONE);
	cr_expect_str_eq(
		said((struct driver){.devices = 8}, 0), "{\"v\":1,\"devices\":8,\"uuid\":\"\"}");
}

Test(probe, no_driver_is_no_gpu)
{
	cr_expect_str_eq(said((struct driver){.open = FAULT_TRANSIENT}, 0), NONE);
	cr_expect_eq(driver.opens, 1);
	cr_expect_str_eq(said((struct driver){.open = FAULT_DENIED}, 1000), NONE);
	cr_expect_eq(driver.opens, 1, "time does not heal that");
	cr_expect_str_eq(said((struct driver){.devices = 1, .describe = FAULT_NOT_FOUND}, 0), NONE);
	cr_expect_str_eq(said((struct driver){.open = FAULT_TRANSIENT}, 150), NONE);
	cr_expect_gt(driver.opens, 1);
}

Test(probe, a_driver_may_take_a_moment)
{
	cr_expect_str_eq(
		said((struct driver){.open = FAULT_TRANSIENT, .heals_after = 2, .devices = 1},
			60000),
		"{\"v\":1,\"devices\":1,\"uuid\":\"GPU-a\"}");
	cr_expect_eq(driver.opens, 3);
}

Test(probe, what_is_wrong_otherwise_is_no_word_about_gpus)
{
	cr_expect_null(said((struct driver){.count = FAULT_FATAL}, 0));
	cr_expect_null(said((struct driver){.devices = 1, .describe = FAULT_INVALID}, 0));
	cr_expect_null(said((struct driver){.open = FAULT_FATAL}, 60000));
}

Test(probe, as_a_command)
{
	char log[96];
	snprintf(log, sizeof log, "--termination-log=%s", path);
	char name[] = "capacity", verb[] = "probe", library[] = "--nvml-library=/no/such/library";
	char *argv[] = {name, verb, log, library, NULL};
	int64_t began = clock_mono(&clock_system);
	cr_expect_eq(capacity_main(4, argv), 0);
	cr_expect_lt(clock_mono(&clock_system) - began, 15000, "not as long as identify waits");
	char text[256];
	FILE *file = fopen(path, "r");
	cr_assert_not_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	cr_expect_str_eq(text, NONE);
	char *more[] = {name, verb, verb, NULL};
	cr_expect_eq(capacity_main(3, more), 2);
}
