/* ResourceSlices. The devices themselves are of no interest here: they are cut off unread. */
#include "codec/gpuslice.h"

#include "parts.h"

#define DRIVER "gpu.nvidia.com"
/* Its name when Kubernetes 1.30 was new. */
#define OLD_DRIVER "gpu.resource.nvidia.com"

struct raw {
	struct gpu_slice slice;
	const char *driver;
};

/* v1alpha2 has no spec. */
static const struct field slice_fields[] = {
	FIELD("metadata.name", text, AT(raw, slice.name), .required = true),
	FIELD("spec.nodeName", text, AT(raw, slice.node)),
	FIELD("nodeName", text, AT(raw, slice.node)),
	FIELD("driverName", text, AT(raw, driver)),
	FIELD("spec.driver", text, AT(raw, driver)),
};
static const struct shape slice_shape = {SHAPE(raw, slice_fields),
	.defaults = &(const struct raw){.slice = {.name = ""}},
	SHAPE_NAME("resourceslice", raw, slice.name)};

const struct slice_keep *gpu_slice_projection(void)
{
	return meta_projection(&slice_shape);
}

int gpu_slice_decode(const char *json, size_t n, struct arena *arena, struct gpu_slice *ret_slice,
	struct fault *ret_fault)
{
	struct raw raw;
	if (fields_decode((struct view){json, n}, &slice_shape, arena, &raw, ret_fault) < 0) {
		return -1;
	}
	bool is_nvidias = text_equals(raw.driver, DRIVER) || text_equals(raw.driver, OLD_DRIVER);
	*ret_slice = raw.slice;
	ret_slice->node = is_nvidias && !text_empty(raw.slice.node) ? raw.slice.node : NULL;
	return 0;
}
