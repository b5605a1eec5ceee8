/* The sums and indexes of a world. */
#ifndef TEST_WORLD_CHECK_H
#define TEST_WORLD_CHECK_H

#include "world/world.h"

/* Makes every sum and index anew. NULL when all agree, else what does not. */
const char *world_check(const struct world *w);

#endif
