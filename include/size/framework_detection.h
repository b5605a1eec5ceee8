/* What admission finds out of a container whose framework takes a GPU's memory at start. Pure. */
#ifndef SIZE_FRAMEWORK_DETECTION_H
#define SIZE_FRAMEWORK_DETECTION_H

#include "model/framework.h"
#include "model/pod.h"

struct telling {
	/* of the framework that takes most of a GPU's memory at start; NULL: there is none */
	const char *name;
	const char *pinned;	       /* by what the person sets its memory; NULL: by nothing */
	const struct framework *tells; /* it can be told its share; NULL: it cannot */
	uint32_t script; /* as in struct mutation; counts where it is told by an argument */
};
struct telling telling_of(const struct container *c);
/* Of an image alone: does what it runs take memory ahead of need whatever else is said? Of JAX,
 * TensorFlow and Triton variables and models say, and an image does not. `image` may be NULL. */
bool admit_takes_ahead(const char *image);

#endif
