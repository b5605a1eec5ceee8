/* NVML by dlopen: what is asked of the library, and what its answers mean. */
#include "gpu/nvml.h"

#include "stub_library.h"

static struct gpu_probe *open_stub(const char *name)
{
	struct gpu_probe *probe = NULL;
	struct fault fault;
	cr_assert_eq(nvml_probe_open(stub_library(name), &probe, &fault), 0, "%s", fault.message);
	return probe;
}

static enum fault_kind describe_kind(struct gpu_probe *probe, char *ret_message)
{
	uint32_t count;
	struct fault fault = {0};
	struct gpu_device device;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0, "%s", fault.message);
	if (gpu_probe_describe(probe, 0, &device, &fault) == 0) {
		return FAULT_NONE;
	}
	memcpy(ret_message, fault.message, sizeof fault.message);
	return fault.kind;
}

Test(nvml, says_that_the_library_is_missing)
{
	struct gpu_probe *probe = NULL;
	struct fault fault;
	cr_assert_eq(nvml_probe_open("libnvidia-ml-that-is-not.so.1", &probe, &fault), -1);
	cr_assert_null(probe);
	cr_assert_eq(fault.kind, FAULT_TRANSIENT);
	cr_assert_not_null(strstr(fault.message, "libnvidia-ml-that-is-not.so.1"));
}

Test(nvml, refuses_a_library_that_is_another)
{
	struct gpu_probe *probe = NULL;
	struct fault fault;
	cr_assert_eq(nvml_probe_open("libm.so.6", &probe, &fault), -1);
	cr_assert_null(probe);
	cr_assert_eq(fault.kind, FAULT_FATAL);
	cr_assert_not_null(strstr(fault.message, "nvmlInit_v2"));
}

Test(nvml, tells_codes_by_meaning)
{
	static const struct {
		int code;
		enum fault_kind kind;
		const char *words;
	} rows[] = {
		{4, FAULT_DENIED, "permission"},
		{9, FAULT_TRANSIENT, "not loaded"},
		{15, FAULT_GONE, "lost"},
		{16, FAULT_FATAL, "reset"},
		{17, FAULT_DENIED, "operating system"},
		{18, FAULT_TRANSIENT, "different versions"},
		{999, FAULT_TRANSIENT, "unknown error"},
		{4711, FAULT_TRANSIENT, "4711"},
	};
	struct nvml_stub *stub = stub_settings("nvml-stub");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gpu_probe *probe = NULL;
		struct fault fault;
		stub->init_code = rows[i].code;
		cr_assert_eq(nvml_probe_open(stub_library("nvml-stub"), &probe, &fault), -1);
		cr_assert_null(probe);
		cr_expect_eq(fault.kind, rows[i].kind, "%s", fault.message);
		cr_expect_not_null(strstr(fault.message, rows[i].words), "%s", fault.message);
	}
	cr_assert_eq(stub->shutdowns, 0, "what was not initialised is not shut down");
}

Test(nvml, describes_a_gpu)
{
	struct nvml_stub *stub = stub_settings("nvml-stub");
	struct gpu_probe *probe = open_stub("nvml-stub");
	struct gpu_device device;
	struct fault fault;
	uint32_t count = 0;
	stub->count = 2;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0);
	cr_assert_eq(count, 2);
	cr_assert_eq(gpu_probe_describe(probe, 1, &device, &fault), 0, "%s", fault.message);
	cr_assert_str_eq(device.identity.uuid, "GPU-00000001-1111-2222-3333-444444444444");
	cr_assert_str_eq(device.identity.model, "NVIDIA H100 80GB HBM3");
	cr_assert_str_eq(device.identity.driver, "570.86.15");
	cr_assert_eq(device.identity.minor, 4);
	/* (85899345920 - 600000000) / 1048576 = 81347.95 */
	cr_assert_eq(device.identity.mem_mib, 81347);
	cr_assert_eq(stub->memory_version, 0x2000028u);
	cr_assert_not(device.mig);
	cr_assert_eq(gpu_probe_describe(probe, 2, &device, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_NOT_FOUND);
	gpu_probe_destroy(probe);
	cr_assert_eq(stub->inits, 1);
	cr_assert_eq(stub->shutdowns, 1);
}

Test(nvml, does_without_what_an_old_driver_lacks)
{
	(void)stub_settings("nvml-stub-old");
	struct gpu_probe *probe = open_stub("nvml-stub-old");
	struct gpu_device device;
	struct fault fault;
	uint32_t count = 0;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0);
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), 0, "%s", fault.message);
	cr_assert_eq(device.identity.mem_mib, 81920);
	cr_assert_not(device.mig);
	gpu_probe_destroy(probe);
}

Test(nvml, falls_back_only_where_the_call_is_lacking)
{
	static const int lacking[] = {2, 3, 13, 25};
	struct nvml_stub *stub = stub_settings("nvml-stub");
	struct gpu_probe *probe = open_stub("nvml-stub");
	struct gpu_device device;
	struct fault fault;
	uint32_t count;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0);
	for (size_t i = 0; i < COUNT_OF(lacking); i++) {
		stub->memory_v2_code = lacking[i];
		cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), 0, "%s", fault.message);
		cr_assert_eq(device.identity.mem_mib, 81920);
	}
	stub->memory_v2_code = 15;
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_GONE);
	stub->memory_v2_code = 3;
	stub->memory_code = 3;
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_INVALID);
	cr_assert_not_null(strstr(fault.message, "it is not shared"));
	gpu_probe_destroy(probe);
}

Test(nvml, sees_mig_now_or_soon_and_asks_no_size_of_it)
{
	struct nvml_stub *stub = stub_settings("nvml-stub");
	struct gpu_probe *probe = open_stub("nvml-stub");
	struct gpu_device device;
	struct fault fault;
	uint32_t count;
	stub->memory_v2_code = 4;
	stub->mig_current = 1;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0);
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), 0, "%s", fault.message);
	cr_assert(device.mig);
	stub->mig_current = 0;
	stub->mig_pending = 1;
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), 0);
	cr_assert(device.mig);
	stub->memory_v2_code = 0;
	stub->mig_code = 3;
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), 0);
	cr_assert_not(device.mig);
	stub->mig_code = 15;
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_GONE);
	gpu_probe_destroy(probe);
}

Test(nvml, counts_only_what_it_may_open)
{
	struct nvml_stub *stub = stub_settings("nvml-stub");
	struct gpu_probe *probe = open_stub("nvml-stub");
	struct gpu_device device;
	struct fault fault;
	uint32_t count = 0;
	stub->count = 8;
	for (int i = 0; i < 8; i++) {
		stub->handle_codes[i] = i == 5 ? 0 : 4;
	}
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0);
	cr_assert_eq(count, 1);
	cr_assert_eq(gpu_probe_describe(probe, 0, &device, &fault), 0);
	cr_assert_str_eq(device.identity.uuid, "GPU-00000005-1111-2222-3333-444444444444");
	stub->handle_codes[5] = 4;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_DENIED);
	stub->handle_codes[5] = 15;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_GONE);
	stub->count = 0;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0);
	cr_assert_eq(count, 0);
	gpu_probe_destroy(probe);
}

Test(nvml, limits_the_number_of_gpus)
{
	struct nvml_stub *stub = stub_settings("nvml-stub");
	struct gpu_probe *probe = open_stub("nvml-stub");
	struct fault fault;
	uint32_t count = 0;
	stub->count = PROBE_DEVICES_MAX;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), 0);
	cr_assert_eq(count, PROBE_DEVICES_MAX);
	stub->count = PROBE_DEVICES_MAX + 1;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_LIMIT);
	stub->count = 1;
	stub->count_code = 999;
	cr_assert_eq(gpu_probe_count(probe, &count, &fault), -1);
	cr_assert_eq(fault.kind, FAULT_TRANSIENT);
	gpu_probe_destroy(probe);
}

Test(nvml, refuses_answers_that_cannot_be)
{
	static const char *const bad[] = {"", "GPU-", "MIG-0", "GPU-1,GPU-2", "GPU-\n", "GPU-a b"};
	struct nvml_stub *stub = stub_settings("nvml-stub");
	struct gpu_probe *probe = open_stub("nvml-stub");
	char message[FAULT_MESSAGE_MAX] = "";
	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		(void)snprintf(stub->uuid, sizeof stub->uuid, "%s", bad[i]);
		cr_expect_eq(describe_kind(probe, message), FAULT_INVALID, "%s", bad[i]);
	}
	(void)snprintf(stub->uuid, sizeof stub->uuid, "GPU-1");
	cr_assert_eq(describe_kind(probe, message), FAULT_NONE);
	stub->reserved = stub->total + 1;
	cr_assert_eq(describe_kind(probe, message), FAULT_INVALID);
	stub->reserved = stub->total - 1048575;
	cr_assert_eq(describe_kind(probe, message), FAULT_INVALID);
	cr_assert_not_null(strstr(message, "no memory"));
	stub->reserved = stub->total - 1048576;
	cr_assert_eq(describe_kind(probe, message), FAULT_NONE);
	gpu_probe_destroy(probe);
}

Test(nvml, names_the_call_that_failed)
{
	struct nvml_stub *stub = stub_settings("nvml-stub");
	struct gpu_probe *probe = open_stub("nvml-stub");
	struct {
		int *code;
		const char *words;
	} rows[] = {
		{&stub->uuid_code, "read the UUID"},
		{&stub->name_code, "read the model"},
		{&stub->driver_code, "read the driver's version"},
		{&stub->minor_code, "read the minor number"},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char message[FAULT_MESSAGE_MAX] = "";
		*rows[i].code = 15;
		cr_expect_eq(describe_kind(probe, message), FAULT_GONE);
		cr_expect_not_null(strstr(message, rows[i].words), "%s", message);
		*rows[i].code = 0;
	}
	gpu_probe_destroy(probe);
}
