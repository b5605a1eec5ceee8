/* ResourceSlices. The devices themselves are of no interest here: they are cut off unread. */
#include "codec/gpuslice.h"

#include "parts.h"

#define DRIVER "gpu.nvidia.com"
/* Its name when Kubernetes 1.30 was new. */
#define OLD_DRIVER "gpu.resource.nvidia.com"

static const struct slice_keep notes_keep[] = {PARTS_BOOKMARK_KEEP, SLICE_END};
static const struct slice_keep meta_keep[] = {
	PARTS_META_KEEP,
	SLICE_KEEP_IN("annotations", notes_keep),
	SLICE_END,
};
static const struct slice_keep spec_keep[] = {
	SLICE_KEEP("driver"),
	SLICE_KEEP("nodeName"),
	SLICE_END,
};
static const struct slice_keep slice_keep[] = {
	SLICE_KEEP_IN("metadata", meta_keep),
	SLICE_KEEP_IN("spec", spec_keep),
	/* v1alpha2 has no spec */
	SLICE_KEEP("driverName"),
	SLICE_KEEP("nodeName"),
	SLICE_END,
};

const struct slice_keep *gpu_slice_projection(void)
{
	return slice_keep;
}

static const struct decode_field slice_fields[] = {
	{"metadata.name", DECODE_TEXT, true, offsetof(struct gpu_slice, name), NULL},
	{"spec.nodeName", DECODE_TEXT, false, offsetof(struct gpu_slice, node), NULL},
	{"nodeName", DECODE_TEXT, false, offsetof(struct gpu_slice, node), NULL},
};

static bool is_nvidias(const char *driver)
{
	return text_equals(driver, DRIVER) || text_equals(driver, OLD_DRIVER);
}

int gpu_slice_decode(const char *json, size_t n, struct arena *arena, struct gpu_slice *ret_slice,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	struct gpu_slice s = {.name = ""};
	const char *driver = NULL, *old = NULL;
	if (decode_parse(json, n, DECODE_PLAIN, &root, ret_fault) < 0 ||
		decode_fields(root, slice_fields, COUNT_OF(slice_fields), arena, &s, ret_fault) <
			0 ||
		decode_text(root, "spec.driver", &driver, ret_fault) < 0 ||
		decode_text(root, "driverName", &old, ret_fault) < 0) {
		return fault_wrap(ret_fault, "resourceslice %.63s", s.name);
	}
	bool counts = is_nvidias(driver != NULL ? driver : old) && !text_empty(s.node);
	s.node = counts ? s.node : NULL;
	*ret_slice = s;
	return 0;
}
