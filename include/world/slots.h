/* Some pods of the world, by their slots. Nothing here fails. */
#ifndef WORLD_SLOTS_H
#define WORLD_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct world_slots {
	VEC_FIELDS(uint32_t); /* ascending, each once */
};

/* The place of the first that is this slot or a later one; their count: there is none. */
size_t world_slots_from(const struct world_slots *all, uint32_t slot);

#endif
