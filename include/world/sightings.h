/* Of ordinary pods no labels are kept, but of each namespace which labels any of them ever carried:
 * a few bits, in which different labels may fall together. So "none of them carries that" is
 * certain, and "one may" is not.
 *
 * It is for admission alone, and no part of what world_save tells: nothing is decided by it that a
 * journal would have to explain. */
#ifndef WORLD_SIGHTINGS_H
#define WORLD_SIGHTINGS_H

#include <stdbool.h>

#include "model/pod.h"

struct world;

/* May something that the pod requires of its neighbours be about pods without a GPU? Where the pod
 * stays whole then the scheduler knows them all. */
bool world_meets_others(const struct world *w, const struct pod *pod);

#endif
