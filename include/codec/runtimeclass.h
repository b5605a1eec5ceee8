/* A RuntimeClass (C5). */
#ifndef CODEC_RUNTIMECLASS_H
#define CODEC_RUNTIMECLASS_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "model/runtime.h"

/* Text lives in the arena. */
MUST_CHECK int runtime_decode(const char *json, size_t n, struct arena *arena,
	struct runtime_class *ret_runtime, struct fault *ret_fault);

#endif
