/* Namespaces. */
#include "codec/namespace.h"

#include "model/names.h"
#include "parts.h"

struct raw {
	struct namespace ns;
	const char *phase;
	bool deleting;
};

static const struct field namespace_fields[] = {
	FIELD("metadata.name", text, AT(raw, ns.name), .required = true),
	FIELD("metadata.deletionTimestamp", there, AT(raw, deleting)),
	FIELD("metadata.labels", pairs, AT(raw, ns.labels)),
	FIELD("metadata.annotations", pairs, AT(raw, ns.notes), .keys = WORDS(NAME_PREFIX "*")),
	FIELD("status.phase", text, AT(raw, phase)),
};
static const struct shape namespace_shape = {SHAPE(raw, namespace_fields),
	.defaults = &(const struct raw){.ns = {.name = ""}}, SHAPE_NAME("namespace", raw, ns.name),
	.flags = DECODE_MEND};

const struct slice_keep *namespace_projection(void)
{
	return meta_projection(&namespace_shape);
}

int namespace_decode(const char *json, size_t n, struct arena *arena,
	struct namespace *ret_namespace, struct fault *ret_fault)
{
	struct raw raw;
	if (fields_decode((struct view){json, n}, &namespace_shape, arena, &raw, ret_fault) < 0) {
		return -1;
	}
	*ret_namespace = raw.ns;
	ret_namespace->terminating = raw.deleting || text_equals(raw.phase, "Terminating");
	return 0;
}
