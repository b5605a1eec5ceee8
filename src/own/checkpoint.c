/* GPUUsageCheckpoints. */
#include "own/checkpoint.h"

#include "base/base64.h"
#include "model/names.h"
#include "codec/parts.h"

#define CODED_MAX (CHECKPOINT_BYTES_MAX / 3 * 4 + 8)

/* Bytes of another version than ours are not read. */
static int read_bytes(const struct reading *r, const json_t *value, void *to)
{
	CLEANUP(str_finish) struct str bytes = STR_INIT(CHECKPOINT_BYTES_MAX);
	struct checkpoint *c = to;
	if (!text_equals(c->version, CHECKPOINT_VERSION)) {
		return 0;
	}
	if (!json_is_string(value)) {
		return decode_mismatch(value, "string", r->fault);
	}
	const char *text = json_string_value(value);
	if (strlen(text) > CODED_MAX || !base64_decode(view_of(text), &bytes)) {
		return fault_set(r->fault, FAULT_INVALID, "not base64 of at most %zu bytes",
			CHECKPOINT_BYTES_MAX);
	}
	char *copy = arena_alloc(r->arena, bytes.len + 1);
	if (bytes.len > 0) {
		memcpy(copy, bytes.p, bytes.len);
	}
	c->bytes = (struct view){copy, bytes.len};
	return 0;
}

static void write_bytes(struct build *b, const struct field *f, const void *from)
{
	CLEANUP(str_finish) struct str coded = STR_INIT(CODED_MAX);
	const struct checkpoint *c = from;
	(void)f;
	ENSURE(c->bytes.n <= CHECKPOINT_BYTES_MAX && base64_encode(c->bytes.p, c->bytes.n, &coded));
	build_text(b, str_text(&coded));
}

static const struct field_kind field_bytes = {.read = read_bytes, .write = write_bytes};

#define C(member) AT(checkpoint, member)

static const struct field checkpoint_fields[] = {
	FIELD("metadata.namespace", text, C(ns), .required = true),
	FIELD("metadata.name", text, C(name), .required = true),
	FIELD("metadata.uid", text, C(uid)),
	FIELD("metadata.resourceVersion", text, C(resource_version)),
	FIELD("spec.recommendationName", text, C(recommendation), .required = true, .always = true),
	FIELD("spec.containerName", text, C(container), .required = true, .always = true),
	FIELD("status.version", text, C(version)),
	FIELD("status.lastUpdateTime", time, C(written_ms)),
	FIELD("status.firstSampleTime", time, C(first_ms)),
	FIELD("status.lastSampleTime", time, C(last_ms)),
	FIELD("status.samples", i64, C(samples), .always = true),
	FIELD("status.data", bytes, .at = 0),
};
static const struct shape checkpoint_shape = {SHAPE(checkpoint, checkpoint_fields),
	.defaults =
		&(const struct checkpoint){.ns = "", .name = "", .uid = "", .resource_version = ""},
	SHAPE_NAMES("gpuusagecheckpoint", checkpoint, ns, name), .flags = DECODE_MEND};

const struct slice_keep *checkpoint_projection(void)
{
	return meta_projection(&checkpoint_shape);
}

int checkpoint_decode(const char *json, size_t n, struct arena *arena,
	struct checkpoint *ret_checkpoint, struct fault *ret_fault)
{
	return fields_decode(
		(struct view){json, n}, &checkpoint_shape, arena, ret_checkpoint, ret_fault);
}

/* In our version, whatever it was read in. */
void checkpoint_write_status(struct build *b, const struct checkpoint *c)
{
	struct checkpoint ours = *c;
	ours.version = CHECKPOINT_VERSION;
	build_begin_object(b);
	fields_write(b, &checkpoint_shape, "status", &ours);
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
	parts_write_owner(b, &(const struct owner){NAME_GROUP "/" NAME_VERSION, "GPURecommendation",
				     c->recommendation, recommendation_uid});
	build_end(b);
	build_object_at(b, "spec");
	fields_write(b, &checkpoint_shape, "spec", c);
	build_end(b);
	build_end(b);
}
