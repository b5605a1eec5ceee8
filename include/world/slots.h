/* Some pods of the world, by their slots. Nothing here fails. */
#ifndef WORLD_SLOTS_H
#define WORLD_SLOTS_H

#include <stdint.h>

#include "base/vec.h"

struct world_slots {
	VEC_FIELDS(uint32_t); /* ascending, each once */
};

#endif
