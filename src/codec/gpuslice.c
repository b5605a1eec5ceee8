/* ResourceSlices. The devices themselves are of no interest here: they are cut off unread. */
#include "codec/objects.h"

#include "codec/parts.h"

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
static int finish_slice(const struct reading *r, void *noun)
{
	struct raw *raw = noun;
	bool is_nvidias = text_equals(raw->driver, DRIVER) || text_equals(raw->driver, OLD_DRIVER);
	(void)r;
	raw->slice.node = is_nvidias && !text_empty(raw->slice.node) ? raw->slice.node : NULL;
	return 0;
}

const struct shape gpu_slice_shape = {SHAPE(raw, slice_fields),
	.defaults = &(const struct raw){.slice = {.name = ""}},
	SHAPE_NAME("resourceslice", raw, slice.name), .given = sizeof(struct gpu_slice),
	.finish = finish_slice};
