/* Frameworks that take a GPU's memory at start, and what each can be told of its share, in its own
 * way: one table. What a tenant is told is written when it is placed, for the GPU that it gets. */
#ifndef MODEL_FRAMEWORK_H
#define MODEL_FRAMEWORK_H

#include <stdint.h>

#include "model/mutation.h"

enum framework_way {
	FRAMEWORK_FRACTION, /* it takes this part of the device's memory, and no more */
	FRAMEWORK_GROWTH,   /* it takes memory as it needs it; there is no limit */
	FRAMEWORK_FREE,	    /* it takes this part of what is free after its weights, and nobody
			       knows those beforehand: it cannot be told */
};

/* All static. The lists of names end with NULL. */
struct framework {
	const char *name;
	enum framework_way way;
	int32_t part_percent; /* of its share the fraction is about */
	/* at the end of its command line, as the kubelet expands it; NULL: the environment does */
	const char *argument;
	const struct env_edit *env; /* of its container as a tenant; NULL: it cannot be told */
	uint32_t env_count;
	/* by what people set its memory themselves: options without their dashes, variables */
	const char *const *options, *const *variables;
};

const struct framework *framework_find(const char *name); /* NULL: none of this name */

struct framework_slice {
	int64_t share_mib;
	int64_t context_mib; /* of the share, for the CUDA context */
	int64_t device_mib;  /* all that the device has */
};
/* The fraction in thousandths, rounded down, so that all it takes with its CUDA context stays
 * within the share. 0: there is none that small, or it is told none. */
int32_t framework_thousandths(const struct framework *f, const struct framework_slice *s);
#define FRAMEWORK_TEXT_MAX 8
/* "0.234" */
const char *framework_text(int32_t thousandths, char text[FRAMEWORK_TEXT_MAX]);
/* The smallest share that leaves one something to take, a context being so large (0:
 * MODEL_CONTEXT_MIB). */
int64_t framework_least_mib(int64_t context_mib);

#endif
