/* GPUUsageCheckpoints: the bytes come back as they were, and what is not ours is left alone. */
#include "own/checkpoint.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/clock.h"

static int read_back(const char *status, struct arena *a, struct checkpoint *c, struct fault *f)
{
	const char *json = arena_printf(a,
		"{\"metadata\":{\"name\":\"n\",\"namespace\":\"team\",\"uid\":\"u\"},\"spec\":{"
		"\"recommendationName\":\"deployment-llm\",\"containerName\":\"server\"},"
		"\"status\":%s}",
		status);
	return checkpoint_decode(json, strlen(json), a, c, f);
}

Test(checkpoint, r11_every_byte_comes_back)
{
	CLEANUP(arena_finish) struct arena a = {0};
	CLEANUP(str_finish) struct str json = STR_INIT(1 << 20);
	static char bytes[CHECKPOINT_BYTES_MAX];
	for (size_t i = 0; i < sizeof bytes; i++) {
		bytes[i] = (char)(i * 37);
	}
	static const size_t sizes[] = {0, 1, 2, 3, 256, CHECKPOINT_BYTES_MAX};
	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		struct checkpoint c = {.written_ms = INT64_C(1795392000000),
			.first_ms = INT64_C(1795305600000),
			.last_ms = INT64_C(1795391985000),
			.samples = 5760,
			.bytes = {bytes, sizes[i]}};
		struct checkpoint got;
		struct fault f = {0};
		str_reset(&json);
		struct build b = build_into(&json);
		checkpoint_write_status(&b, &c);
		cr_assert(build_ok(&b));
		cr_assert_eq(read_back(str_text(&json), &a, &got, &f), 0, "%s", f.message);
		cr_assert_eq(got.bytes.n, sizes[i]);
		cr_assert(sizes[i] == 0 || memcmp(got.bytes.p, bytes, sizes[i]) == 0);
		cr_assert_str_eq(got.version, CHECKPOINT_VERSION);
		cr_assert_eq(got.written_ms, c.written_ms);
		cr_assert_eq(got.first_ms, c.first_ms);
		cr_assert_eq(got.last_ms, c.last_ms);
		cr_assert_eq(got.samples, 5760);
		cr_assert_str_eq(got.container, "server");
		cr_assert_str_eq(got.recommendation, "deployment-llm");
	}
}

Test(checkpoint, r11_another_version_is_not_looked_into)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct checkpoint got;
	struct fault f = {0};
	cr_assert_eq(read_back("{\"version\":\"v9\",\"data\":\"!!!\"}", &a, &got, &f), 0, "%s",
		f.message);
	cr_assert_str_eq(got.version, "v9");
	cr_assert_eq(got.bytes.n, 0);
	cr_assert_eq(read_back("null", &a, &got, &f), 0, "%s", f.message);
	cr_assert_null(got.version);
}

Test(checkpoint, what_is_no_data_is_refused)
{
	CLEANUP(arena_finish) struct arena a = {0};
	struct checkpoint got;
	struct fault f = {0};
	cr_assert_eq(read_back("{\"version\":\"v1\",\"data\":\"!!!\"}", &a, &got, &f), -1);
	cr_assert_str_eq(f.message,
		"gpuusagecheckpoint team/n: status.data: not base64 of at most 32768 bytes");
	char *large = arena_alloc(&a, 100000);
	memset(large, 'A', 99999);
	cr_assert_eq(read_back(arena_printf(&a, "{\"version\":\"v1\",\"data\":\"%s\"}", large), &a,
			     &got, &f),
		-1);
	cr_assert_eq(read_back("{\"version\":\"v1\",\"data\":7}", &a, &got, &f), -1);
}

Test(checkpoint, a_new_one_goes_with_its_recommendation)
{
	CLEANUP(str_finish) struct str json = STR_INIT(4096);
	struct checkpoint c = {.ns = "team",
		.name = "deployment-llm-server",
		.recommendation = "deployment-llm",
		.container = "server"};
	struct build b = build_into(&json);
	checkpoint_write_new(&b, &c, "u-9");
	cr_assert(build_ok(&b));
	cr_assert_str_eq(str_text(&json),
		"{\"apiVersion\":\"aliquot.dev/v1alpha1\",\"kind\":\"GPUUsageCheckpoint\","
		"\"metadata\":{\"name\":\"deployment-llm-server\",\"namespace\":\"team\","
		"\"ownerReferences\":[{\"apiVersion\":\"aliquot.dev/v1alpha1\",\"kind\":"
		"\"GPURecommendation\",\"name\":\"deployment-llm\",\"uid\":\"u-9\"}]},\"spec\":{"
		"\"recommendationName\":\"deployment-llm\",\"containerName\":\"server\"}}");
}
