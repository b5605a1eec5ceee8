/* What a killed pod of mode MPS left, as one of mode None finds it. */
#include "capacity_common.h"

#include "../gpu/stub_library.h"

#define UUID "GPU-00000000-1111-2222-3333-444444444444"

static struct nvml_stub *stub;
static struct capacity_options o;

static void setup(void)
{
	stub = stub_settings("nvml-stub");
	(void)snprintf(stub->uuid, sizeof stub->uuid, UUID);
	capacity_options_init(&o);
	o.nvml_library = stub_library("nvml-stub");
	o.termination_log = NULL;
}

TestSuite(capacity_mode, .init = setup);

Test(capacity_mode, one_that_lets_all_in_is_left_alone)
{
	stub->compute_mode_code = 4; /* no permission */
	cr_expect_eq(capacity_let_all_in(&o, UUID, NULL), 0);
}

Test(capacity_mode, is_set_back_where_we_may)
{
	stub->compute_mode = 3;
	cr_expect_eq(capacity_let_all_in(&o, UUID, NULL), 0);
	cr_expect_eq(stub->compute_mode, 0);
}

Test(capacity_mode, is_named_where_we_may_not)
{
	static const char *const names[] = {
		"Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process"};
	stub->compute_mode_code = 4;
	for (int mode = 1; mode <= 3; mode++) {
		struct fault fault = {0};
		stub->compute_mode = mode;
		cr_assert_eq(capacity_let_all_in(&o, UUID, &fault), -1);
		cr_expect_eq(fault.kind, FAULT_DENIED);
		cr_expect_eq(
			strstr(fault.message, "ComputeMode: " UUID " is in mode "), fault.message);
		cr_expect_not_null(strstr(fault.message, names[mode]), "%s", fault.message);
		cr_expect_not_null(
			strstr(fault.message, "nvidia-smi -i " UUID " -c 0"), "%s", fault.message);
		cr_expect_eq(stub->compute_mode, mode);
	}
}

Test(capacity_mode, a_driver_that_does_not_tell_is_no_fault)
{
	stub->compute_mode = 3;
	stub->compute_mode_get_code = 3; /* not supported */
	cr_expect_eq(capacity_let_all_in(&o, UUID, NULL), 0);
	cr_expect_eq(stub->compute_mode, 3);
	o.nvml_library = "/no/such.so";
	cr_expect_eq(capacity_let_all_in(&o, UUID, NULL), 0);
}
