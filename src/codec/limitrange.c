/* LimitRanges. */
#include "codec/objects.h"

#include "model/names.h"
#include "codec/parts.h"

/* A maximum, too: the API server refuses a pod that it bounds and that says no limit at all. */
static bool names_gpus(const json_t *limit)
{
	static const char *const parts[] = {
		"min", "max", "default", "defaultRequest", "maxLimitRequestRatio"};
	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		if (json_object_get(decode_find(limit, parts[i]), NAME_GPU_RESOURCE) != NULL) {
			return true;
		}
	}
	return false;
}

static int read_limits(const struct reading *r, const json_t *value, void *to)
{
	bool *limits_gpus = to;
	if (!json_is_array(value)) {
		return decode_mismatch(value, "array", r->fault);
	}
	for (size_t i = 0; i < json_array_size(value); i++) {
		*limits_gpus |= names_gpus(json_array_get(value, i));
	}
	return 0;
}

static const struct field_kind field_limits = {.read = read_limits};

static const struct field range_fields[] = {
	FIELD("metadata.namespace", text, AT(limit_range, ns), .required = true),
	FIELD("metadata.name", text, AT(limit_range, name), .required = true),
	FIELD("spec.limits", limits, AT(limit_range, limits_gpus)),
};
const struct shape limit_range_shape = {SHAPE(limit_range, range_fields),
	.defaults = &(const struct limit_range){.ns = "", .name = ""},
	SHAPE_NAMES("limitrange", limit_range, ns, name), .flags = DECODE_MEND};
