/* The life of capacity pods after they were asked for. Nothing here fails. */
#ifndef ENGINE_CAPACITY_LIFECYCLE_H
#define ENGINE_CAPACITY_LIFECYCLE_H

#include "nouns.h"

void capacity_tend(struct scheduling *sched, struct emitter *out);

#endif
