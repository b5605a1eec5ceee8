/* What a pod takes of its node, GPUs apart: one for all pods that take the same, as those of one
 * template do. */
#ifndef WORLD_TAKES_H
#define WORLD_TAKES_H

#include <stdint.h>

struct world_takes {
	int64_t cpu_milli;
	int64_t mem_bytes;
	const char *extra; /* interned; what else, as text; NULL: nothing */
	uint32_t pods, slot;
};

#endif
