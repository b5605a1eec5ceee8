/* Namespaces: JSON to struct namespace. Text lives in the arena; FAULT_INVALID names the path. */
#ifndef CODEC_NAMESPACE_H
#define CODEC_NAMESPACE_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/policy.h"

const struct slice_keep *namespace_projection(void);
MUST_CHECK int namespace_decode(const char *json, size_t n, struct arena *arena,
	struct namespace *ret_namespace, struct fault *ret_fault);

#endif
