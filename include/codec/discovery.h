/* What the API server says of kinds that nobody here was built for, and the controller of an object
 * of such a kind, read as its metadata alone. Text lives in the arena; FAULT_INVALID names the
 * path.
 */
#ifndef CODEC_DISCOVERY_H
#define CODEC_DISCOVERY_H

#include "base/alloc.h"
#include "base/fault.h"
#include "base/str.h"
#include "model/pod.h"

/* For an answer without what is not metadata. */
#define DISCOVERY_METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

/* May it stand in a path, as a group, a version or a resource? */
bool discovery_is_segment(struct view text);

/* /apis/GROUP: the version that it prefers, as in `apps/v1`. */
MUST_CHECK int discovery_version(
	struct view json, struct arena *arena, const char **ret_version, struct fault *ret_fault);

/* /apis/GROUP/VERSION: under which name objects of a kind are asked for. FAULT_NOT_FOUND: it has no
 * such kind, or one that is of no namespace. */
MUST_CHECK int discovery_resource(struct view json, const char *kind, struct arena *arena,
	const char **ret_resource, struct fault *ret_fault);

/* *ret_owner is its controller; its kind is NULL: it has none. */
MUST_CHECK int discovery_controller(
	struct view json, struct arena *arena, struct owner *ret_owner, struct fault *ret_fault);

#endif
