/* A RuntimeClass, as far as it is about where its pods go and what they cost beside their requests.
 * The API server writes both into every pod that names the class. */
#ifndef MODEL_RUNTIME_H
#define MODEL_RUNTIME_H

#include <stdint.h>

#include "model/labels.h"

#define RUNTIME_AMOUNT_MAX (INT64_MAX >> 17)

struct runtime_class {
	int64_t cpu_milli, mem_bytes; /* overhead */
	struct pairs selector;	      /* sorted; what nodes must be labelled with */
};

#endif
