/* C5. The RuntimeClass of capacity pods can cost CPU and memory beside what they ask for, and can
 * go to some nodes only: the API server writes both into the pod, so no room is counted without the
 * first and nothing is opened where the second forbids it. The engine is told of it as of anything
 * else that is read, and owns its copy. Nothing here fails. */
#ifndef LEDGER_RUNTIME_H
#define LEDGER_RUNTIME_H

#include <stdbool.h>

#include "base/alloc.h"
#include "model/runtime.h"

struct picture;

struct runtime {
	struct runtime_class class;
	struct arena arena; /* of `class` */
	bool known;
};

void runtime_take(
	const struct picture *picture, const struct runtime_class *r); /* NULL: there is none */
const struct runtime_class *runtime_of(const struct runtime *runtime); /* NULL: none */

#endif
