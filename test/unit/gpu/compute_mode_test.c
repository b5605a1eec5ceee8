/* Setting the compute mode: what NVML is told, and what its refusals mean. */
#include "gpu/compute_mode.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compute_mode_stub.h"

static char path[4096];
static struct compute_mode_stub *stub;

static void setup(void)
{
	char self[2048];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	cr_assert(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	(void)snprintf(path, sizeof path, "%s/gpu/libcompute-mode-stub.so", self);
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	stub = dlsym(library, "compute_mode_stub");
	cr_assert_not_null(stub);
}

TestSuite(compute_mode, .init = setup);

static enum fault_kind refusal(const char *uuid, const char *words)
{
	struct fault fault = {0};
	cr_assert_eq(gpu_compute_mode_set(path, uuid, COMPUTE_MODE_DEFAULT, &fault), -1);
	cr_expect_not_null(strstr(fault.message, words), "%s", fault.message);
	cr_expect_eq(stub->begun, 0, "what was begun is ended");
	return fault.kind;
}

Test(compute_mode, is_told_to_nvml)
{
	struct fault fault;
	cr_assert_eq(gpu_compute_mode_set(path, "GPU-a", COMPUTE_MODE_EXCLUSIVE_PROCESS, &fault), 0,
		"%s", fault.message);
	cr_expect_eq(stub->mode, 3);
	cr_assert_eq(gpu_compute_mode_set(path, "GPU-a", COMPUTE_MODE_DEFAULT, &fault), 0);
	cr_expect_eq(stub->mode, 0);
	cr_expect_eq(stub->begun, 0);
}

Test(compute_mode, refusals_have_a_meaning)
{
	cr_expect_eq(refusal("GPU-b", "open the GPU"), FAULT_NOT_FOUND);
	stub->set_code = 4;
	cr_expect_eq(refusal("GPU-a", "set the compute mode: no permission"), FAULT_DENIED);
	stub->init_code = 9;
	cr_expect_eq(refusal("GPU-a", "driver is not loaded"), FAULT_TRANSIENT);
}

Test(compute_mode, a_library_that_is_missing_or_another)
{
	struct fault fault;
	cr_assert_eq(
		gpu_compute_mode_set("/no/such.so", "GPU-a", COMPUTE_MODE_DEFAULT, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_TRANSIENT);
	cr_assert_eq(gpu_compute_mode_set("libm.so.6", "GPU-a", COMPUTE_MODE_DEFAULT, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_INVALID);
	cr_expect_not_null(strstr(fault.message, "nvmlInit_v2"));
}
