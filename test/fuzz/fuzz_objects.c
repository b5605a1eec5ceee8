/* Objects that are read one at a time: the Secret with our authority, the webhook's configuration,
 * RuntimeClasses, ResourceSlices, Jobs and PodGroups. No bytes crash a decoder, and what is taken
 * of a secret is written and read again as the same. The first byte chooses the target. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "codec/objects.h"
#include "codec/job.h"
#include "codec/runtimeclass.h"
#include "codec/secret.h"

#define HEAD                                                                                       \
	"{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"s\",\"namespace\":"   \
	"\"n\",\"uid\":\"u\",\"resourceVersion\":\"1\"},"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef void (*target)(const char *text, size_t n, struct arena *arena);

static void expect_kind(const struct fault *f)
{
	ENSURE(f->kind == FAULT_INVALID || f->kind == FAULT_LIMIT || f->kind == FAULT_NOT_FOUND);
}

static void same(const char *a, const char *b)
{
	ENSURE(text_equals(text_or(a, ""), text_or(b, "")));
}

/* The patch is an object too, but for its head. */
static void check_again(const struct secret *s, struct arena *arena)
{
	CLEANUP(str_finish) struct str patch = STR_INIT(8 << 20);
	CLEANUP(str_finish) struct str json = STR_INIT(8 << 20);
	struct secret back;
	struct fault f = {0};
	ENSURE(secret_write_patch(&patch, s));
	/* Of a text that ends so, the quote before would be escaped. */
	const char *part = strstr(str_text(&patch), ",\"data\":");
	if (part == NULL) {
		return;
	}
	str_append_text(&json, HEAD);
	str_append_text(&json, part + 1);
	ENSURE(secret_decode(json.p, json.len, arena, &back, &f) == 0);
	same(s->ca_cert, back.ca_cert);
	same(s->ca_key, back.ca_key);
	same(s->other_cert, back.other_cert);
	same(s->other_key, back.other_key);
	same(s->leaf_cert, back.leaf_cert);
	same(s->leaf_key, back.leaf_key);
}

static void fuzz_secret(const char *text, size_t n, struct arena *arena)
{
	struct secret s;
	struct secret leaf;
	struct fault f = {0};
	bool read = secret_decode(text, n, arena, &s, &f) == 0;
	if (!read) {
		expect_kind(&f);
		return;
	}
	check_again(&s, arena);
	ENSURE(secret_decode_leaf(text, n, arena, &leaf, &f) == 0);
	ENSURE(leaf.ca_key == NULL && leaf.other_key == NULL);
	same(s.leaf_cert, leaf.leaf_cert);
}

static void fuzz_webhook(const char *text, size_t n, struct arena *arena)
{
	CLEANUP(str_finish) struct str patch = STR_INIT(8 << 20);
	struct webhook_bundle b;
	struct fault f = {0};
	if (webhook_decode(text, n, arena, &b, &f) < 0) {
		expect_kind(&f);
		return;
	}
	ENSURE(b.bundle != NULL);
	ENSURE(webhook_write_patch(&patch, b.resource_version, b.bundle));
}

static void fuzz_runtime(const char *text, size_t n, struct arena *arena)
{
	struct runtime_class r;
	struct fault f = {0};
	if (runtime_decode(text, n, arena, &r, &f) < 0) {
		expect_kind(&f);
		return;
	}
	ENSURE(r.cpu_milli >= 0 && r.cpu_milli <= RUNTIME_AMOUNT_MAX);
	ENSURE(r.mem_bytes >= 0 && r.mem_bytes <= RUNTIME_AMOUNT_MAX);
}

static void fuzz_slice(const char *text, size_t n, struct arena *arena)
{
	struct gpu_slice s;
	struct fault f = {0};
	if (fields_decode((struct view){text, n}, &gpu_slice_shape, arena, &s, &f) < 0) {
		expect_kind(&f);
	}
}

static void fuzz_job(const char *text, size_t n, struct arena *arena)
{
	bool spares = false;
	struct fault f = {0};
	(void)arena;
	if (job_decode(text, n, "j", &spares, &f) < 0) {
		expect_kind(&f);
	}
}

static void fuzz_pod_group(const char *text, size_t n, struct arena *arena)
{
	struct pod_group g;
	struct fault f = {0};
	if (fields_decode((struct view){text, n}, &pod_group_shape, arena, &g, &f) < 0) {
		expect_kind(&f);
		return;
	}
	ENSURE(g.ns != NULL && g.name != NULL);
}

static const target targets[] = {
	fuzz_secret,
	fuzz_webhook,
	fuzz_runtime,
	fuzz_slice,
	fuzz_job,
	fuzz_pod_group,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = {0};
	if (size == 0) {
		return 0;
	}
	/* 'a' is the first, so that corpora are text. */
	size_t chosen = (size_t)(uint8_t)(data[0] - 'a') % COUNT_OF(targets);
	char *text = xstrndup((const char *)data + 1, size - 1);
	targets[chosen](text, size - 1, &arena);
	free(text);
	arena_finish(&arena);
	return 0;
}
