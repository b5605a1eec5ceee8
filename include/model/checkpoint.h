/* GPUUsageCheckpoint: what was measured of one container of one workload, so that a restart forgets
 * nothing. Listed once at the start, then only written; the bytes are history/history.h's. */
#ifndef MODEL_CHECKPOINT_H
#define MODEL_CHECKPOINT_H

#include <stdint.h>

#include "base/str.h"

/* Of the bytes and of what stands beside them. One of another version is not looked into. */
#define CHECKPOINT_VERSION   "v1"
#define CHECKPOINT_BYTES_MAX ((size_t)32 << 10)

/* All text is borrowed. */
struct checkpoint {
	const char *ns;
	const char *name;
	const char *uid;
	const char *resource_version;
	const char *recommendation; /* by name, in the same namespace */
	const char *container;
	const char *version; /* NULL: nothing was ever written */
	int64_t written_ms;
	int64_t first_ms, last_ms; /* of samples; 0: none */
	int64_t samples;
	struct view bytes;
};

#endif
