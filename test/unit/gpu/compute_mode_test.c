/* Setting the compute mode: what NVML is told, and what its refusals mean. */
#include "gpu/compute_mode.h"

#include "stub_library.h"

#define UUID "GPU-0000000#-1111-2222-3333-444444444444"

static struct nvml_stub *stub;

static void setup(void)
{
	stub = stub_settings("nvml-stub");
}

TestSuite(compute_mode, .init = setup);

static enum fault_kind refusal(const char *uuid, const char *words)
{
	struct fault fault = {0};
	cr_assert_eq(
		gpu_compute_mode_set(stub_library("nvml-stub"), uuid, COMPUTE_MODE_DEFAULT, &fault),
		-1);
	cr_expect_not_null(strstr(fault.message, words), "%s", fault.message);
	return fault.kind;
}

Test(compute_mode, is_told_to_nvml)
{
	struct fault fault;
	const char *library = stub_library("nvml-stub");
	cr_assert_eq(gpu_compute_mode_set(library, UUID, COMPUTE_MODE_EXCLUSIVE_PROCESS, &fault), 0,
		"%s", fault.message);
	cr_expect_eq(stub->compute_mode, 3);
	cr_assert_eq(gpu_compute_mode_set(library, UUID, COMPUTE_MODE_DEFAULT, &fault), 0);
	cr_expect_eq(stub->compute_mode, 0);
	cr_expect_eq(stub->inits, 2);
	cr_expect_eq(stub->shutdowns, 2, "what was begun is ended");
}

Test(compute_mode, refusals_have_a_meaning)
{
	cr_expect_eq(refusal("GPU-b", "open the GPU"), FAULT_NOT_FOUND);
	stub->compute_mode_code = 4;
	cr_expect_eq(refusal(UUID, "set the compute mode: no permission"), FAULT_DENIED);
	cr_expect_eq(stub->shutdowns, 2);
	stub->init_code = 9;
	cr_expect_eq(refusal(UUID, "driver is not loaded"), FAULT_TRANSIENT);
}

Test(compute_mode, a_library_that_is_missing_or_too_old)
{
	struct fault fault;
	cr_assert_eq(gpu_compute_mode_set("/no/such.so", UUID, COMPUTE_MODE_DEFAULT, &fault), -1);
	cr_expect_eq(fault.kind, FAULT_TRANSIENT);
	cr_assert_eq(gpu_compute_mode_set(
			     stub_library("nvml-stub-old"), UUID, COMPUTE_MODE_DEFAULT, &fault),
		-1);
	cr_expect_eq(fault.kind, FAULT_INVALID);
	cr_expect_not_null(strstr(fault.message, "lacks the function"), "%s", fault.message);
}

Test(compute_mode, is_asked_for)
{
	struct fault fault;
	enum gpu_compute_mode mode = COMPUTE_MODE_PROHIBITED;
	const char *library = stub_library("nvml-stub");
	cr_assert_eq(gpu_compute_mode_get(library, UUID, &mode, &fault), 0, "%s", fault.message);
	cr_expect_eq(mode, COMPUTE_MODE_DEFAULT);
	stub->compute_mode = 3;
	cr_assert_eq(gpu_compute_mode_get(library, UUID, &mode, &fault), 0, "%s", fault.message);
	cr_expect_eq(mode, COMPUTE_MODE_EXCLUSIVE_PROCESS);
	cr_expect_str_eq(gpu_compute_mode_name(mode), "Exclusive_Process");
	cr_expect_str_eq(gpu_compute_mode_name((enum gpu_compute_mode)9), "Unknown");
	stub->compute_mode_get_code = 3;
	mode = COMPUTE_MODE_PROHIBITED;
	cr_expect_eq(gpu_compute_mode_get(library, UUID, &mode, &fault), -1);
	cr_expect_eq(mode, COMPUTE_MODE_PROHIBITED, "untouched");
	cr_expect_eq(gpu_compute_mode_get(stub_library("nvml-stub-old"), UUID, &mode, &fault), -1);
	cr_expect_not_null(strstr(fault.message, "lacks the function"), "%s", fault.message);
}
