/* Which ends of a container say that a GPU had no memory left. */
#include "pods/pod_decode.h"

#include <criterion/criterion.h>

#include "base/clock.h"

#define AT    "2026-11-22T10:00:00Z"
#define LATER "2026-11-22T10:05:00Z"

static struct pod decode(const char *status, struct arena *arena)
{
	CLEANUP(str_finish) struct str json = STR_INIT(65536);
	struct pod p;
	struct fault f;
	str_append_format(&json, "{\"metadata\":{\"name\":\"p\"},\"status\":{%s}}", status);
	cr_assert_eq(pod_decode(str_text(&json), json.len, arena, &p, &f), 0, "%s", f.message);
	return p;
}

static int64_t oom_of(int code, const char *message)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str status = STR_INIT(65536);
	str_append_format(&status,
		"\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":%d,"
		"\"finishedAt\":\"" AT "\",\"message\":\"%s\"}}}]",
		code, message);
	return decode(str_text(&status), &arena).gpu_oom_ms;
}

Test(pod_oom, what_programs_write)
{
	static const struct {
		int code;
		const char *message;
		bool says;
	} rows[] = {
		{1, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB",
			true},
		{1, "torch.cuda.OutOfMemoryError: CUDA out of memory.", true},
		{1, "failed to allocate 1.2G from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
			true},
		{134, "terminate: CUDA error: out of memory", true},
		{1, "ggml: cudaMalloc failed: out of memory", true},
		{1, "CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", true},
		{1, "NCCL WARN Cuda failure 2 'out of memory'", true},
		{1, "jaxlib: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.",
			true},
		{1,
			"ValueError: Free memory on device (1/79 GiB) on startup is less than "
			"desired "
			"GPU memory utilization (0.9, 71 GiB).",
			true},
		{0, "recovered from: CUDA out of memory", false},
		{137, "CUDA out of memory", false}, /* killed; of memory of the host at most */
		{1, "MemoryError: cannot allocate", false},
		{1, "OOM when allocating on the host", false},
		{1, "", false},
		{1, "CUDA out of memor", false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(oom_of(rows[i].code, rows[i].message) != 0, rows[i].says, "%s",
			rows[i].message);
	}
}

/* The end is what counts, and only so much of it is looked at. */
Test(pod_oom, the_end_of_a_long_message)
{
	char text[20000];
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	memcpy(text + 19000, "CUDA out of memory", 18);
	cr_expect_neq(oom_of(1, text), 0);
	memset(text + 19000, 'x', 18);
	memcpy(text, "CUDA out of memory", 18);
	cr_expect_eq(oom_of(1, text), 0);
}

static int64_t failed_of(const char *container, int code)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	CLEANUP(str_finish) struct str json = STR_INIT(4096);
	struct pod p;
	struct fault f;
	str_append_format(&json,
		"{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"main\","
		"\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}},{\"name\":\"side\"}]},"
		"\"status\":{\"containerStatuses\":[{\"name\":\"%s\",\"restartCount\":1,"
		"\"lastState\":{\"terminated\":{\"exitCode\":%d,\"finishedAt\":\"" AT "\"}}}]}}",
		container, code);
	cr_assert_eq(pod_decode(str_text(&json), json.len, &arena, &p, &f), 0, "%s", f.message);
	return p.failed_ms;
}

Test(pod_oom, an_error_of_the_container_with_the_gpu_is_noted_but_for_a_kill)
{
	int64_t at;
	cr_assert(time_parse(AT, &at));
	cr_expect_eq(failed_of("main", 1), at);
	cr_expect_eq(failed_of("main", 134), at);
	cr_expect_eq(failed_of("main", 137), 0, "H10: of memory of the host at most");
	cr_expect_eq(failed_of("main", 143), 0, "somebody told it to go");
	cr_expect_eq(failed_of("main", 0), 0);
	cr_expect_eq(failed_of("side", 1), 0, "it has no GPU");
}

Test(pod_oom, the_last_of_several_ends_counts_and_wrong_types_say_nothing)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	int64_t at, later;
	cr_assert(time_parse(AT, &at) && time_parse(LATER, &later));
	struct pod p = decode(
		"\"containerStatuses\":["
		"{\"name\":\"a\",\"state\":{\"running\":{}},\"lastState\":{\"terminated\":{"
		"\"exitCode\":1,\"finishedAt\":\"" LATER "\",\"message\":\"CUDA out of memory\"}}},"
		"{\"name\":\"b\",\"state\":{\"terminated\":{\"exitCode\":1,\"finishedAt\":\"" AT
		"\",\"message\":\"CUDA out of memory\"}}}]",
		&arena);
	cr_expect_eq(p.gpu_oom_ms, later);
	static const char *const odd[] = {
		"{\"exitCode\":\"1\",\"finishedAt\":\"" AT "\",\"message\":\"CUDA out of memory\"}",
		"{\"exitCode\":1,\"finishedAt\":7,\"message\":\"CUDA out of memory\"}",
		"{\"exitCode\":1,\"finishedAt\":\"yesterday\",\"message\":\"CUDA out of memory\"}",
		"{\"exitCode\":1,\"message\":\"CUDA out of memory\"}",
		"{\"exitCode\":1,\"finishedAt\":\"" AT "\",\"message\":[\"CUDA out of memory\"]}",
		"{}",
	};
	for (size_t i = 0; i < COUNT_OF(odd); i++) {
		CLEANUP(str_finish) struct str status = STR_INIT(4096);
		str_append_format(&status,
			"\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":%s}}]",
			odd[i]);
		cr_expect_eq(decode(str_text(&status), &arena).gpu_oom_ms, 0, "row %zu", i);
	}
}

Test(pod_oom, our_conditions_are_read_back)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod p = decode("\"conditions\":[{\"type\":\"aliquot.dev/MemoryOveruse\",\"status\":"
			      "\"True\"},{\"type\":\"aliquot.dev/Contention\",\"status\":\"False\"}"
			      "]",
		&arena);
	cr_expect(p.told_overuse && !p.told_contention);
	p = decode("\"conditions\":[{\"type\":\"aliquot.dev/Contention\",\"status\":\"True\"}]",
		&arena);
	cr_expect(!p.told_overuse && p.told_contention);
}
