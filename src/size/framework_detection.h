/* What admission finds out of a container whose framework takes a GPU's memory at start. Pure. */
#ifndef SIZE_FRAMEWORK_DETECTION_H
#define SIZE_FRAMEWORK_DETECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "model/framework.h"
#include "model/pod.h"

struct telling {
	const char *name;	       /* of the framework; NULL: there is none */
	const char *pinned;	       /* by what the person sets its memory; NULL: by nothing */
	const struct framework *tells; /* it can be told its share; NULL: it cannot */
	uint32_t script; /* as in struct mutation; counts where it is told by an argument */
};
struct telling telling_of(const struct container *c);

/* command.c: may an option of this framework stand at the end of the container's command line, so
 * that its server reads it? `ret_script` as in struct mutation. */
bool command_takes_option(const struct container *c, const char *framework, uint32_t *ret_script);
#endif
