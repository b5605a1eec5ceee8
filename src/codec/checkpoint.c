/* GPUUsageCheckpoints. */
#include "codec/checkpoint.h"

#include "base/base64.h"
#include "base/clock.h"
#include "model/names.h"
#include "parts.h"

#define CODED_MAX (CHECKPOINT_BYTES_MAX / 3 * 4 + 8)

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep checkpoint_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP("spec"),
	SLICE_KEEP("status"),
	SLICE_END,
};

const struct slice_keep *checkpoint_projection(void)
{
	return checkpoint_keep;
}

#define AT(member) offsetof(struct checkpoint, member)

static const struct decode_field checkpoint_fields[] = {
	{"metadata.namespace", DECODE_TEXT, true, AT(ns), NULL},
	{"metadata.name", DECODE_TEXT, true, AT(name), NULL},
	{"metadata.uid", DECODE_TEXT, false, AT(uid), NULL},
	{"metadata.resourceVersion", DECODE_TEXT, false, AT(resource_version), NULL},
	{"spec.recommendationName", DECODE_TEXT, true, AT(recommendation), NULL},
	{"spec.containerName", DECODE_TEXT, true, AT(container), NULL},
	{"status.version", DECODE_TEXT, false, AT(version), NULL},
	{"status.lastUpdateTime", DECODE_TIME, false, AT(written_ms), NULL},
	{"status.firstSampleTime", DECODE_TIME, false, AT(first_ms), NULL},
	{"status.lastSampleTime", DECODE_TIME, false, AT(last_ms), NULL},
	{"status.samples", DECODE_I64, false, AT(samples), NULL},
};

static int read_bytes(
	const json_t *root, struct arena *arena, struct checkpoint *c, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(CHECKPOINT_BYTES_MAX);
	const char *text = NULL;
	if (decode_text(root, "status.data", &text, ret_fault) < 0) {
		return -1;
	}
	if (text == NULL) {
		return 0;
	}
	if (strlen(text) > CODED_MAX || !base64_decode(view_of(text), &bytes)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"status.data: not base64 of at most %zu bytes", CHECKPOINT_BYTES_MAX);
	}
	char *copy = arena_alloc(arena, bytes.len + 1);
	if (bytes.len > 0) {
		memcpy(copy, bytes.p, bytes.len);
	}
	c->bytes = (struct view){copy, bytes.len};
	return 0;
}

int checkpoint_decode(const char *json, size_t n, struct arena *arena,
	struct checkpoint *ret_checkpoint, struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct checkpoint c = {.ns = "", .name = "", .uid = "", .resource_version = ""};
	if (decode_parse(json, n, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_fields(root, checkpoint_fields, COUNT_OF(checkpoint_fields), arena, &c,
			ret_fault) < 0 ||
		(text_equals(c.version, CHECKPOINT_VERSION) &&
			read_bytes(root, arena, &c, ret_fault) < 0)) {
		return fault_wrap(ret_fault, "gpuusagecheckpoint %.63s/%.63s", c.ns, c.name);
	}
	*ret_checkpoint = c;
	return 0;
}

static void write_time(struct build *b, const char *key, int64_t ms)
{
	char text[TIME_TEXT_MAX];
	if (ms > 0) {
		build_text_at(b, key, time_format(ms, text));
	}
}

void checkpoint_write_status(struct build *b, const struct checkpoint *c)
{
	CLEANUP(str_finish) struct str coded = STR_INIT(CODED_MAX);
	ENSURE(c->bytes.n <= CHECKPOINT_BYTES_MAX && base64_encode(c->bytes.p, c->bytes.n, &coded));
	build_begin_object(b);
	build_text_at(b, "version", CHECKPOINT_VERSION);
	write_time(b, "lastUpdateTime", c->written_ms);
	write_time(b, "firstSampleTime", c->first_ms);
	write_time(b, "lastSampleTime", c->last_ms);
	build_i64_at(b, "samples", c->samples);
	build_text_at(b, "data", str_text(&coded));
	build_end(b);
}

void checkpoint_write_new(
	struct build *b, const struct checkpoint *c, const char *recommendation_uid)
{
	build_begin_object(b);
	build_text_at(b, "apiVersion", NAME_GROUP "/" NAME_VERSION);
	build_text_at(b, "kind", "GPUUsageCheckpoint");
	build_object_at(b, "metadata");
	build_text_at(b, "name", c->name);
	build_text_at(b, "namespace", c->ns);
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	build_text_at(b, "apiVersion", NAME_GROUP "/" NAME_VERSION);
	build_text_at(b, "kind", "GPURecommendation");
	build_text_at(b, "name", c->recommendation);
	build_text_at(b, "uid", recommendation_uid);
	build_end(b);
	build_end(b);
	build_end(b);
	build_object_at(b, "spec");
	build_text_at(b, "recommendationName", c->recommendation);
	build_text_at(b, "containerName", c->container);
	build_end(b);
	build_end(b);
}
