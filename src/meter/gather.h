/* The measurements of one reading, until it is known to be whole: one record for a container on a
 * device, its compute and its memory told by two series. Of a series told twice the later one
 * counts; at about the same time the larger one, for exporters repeat a device's figure at each of
 * its shares.
 *
 * A zeroed struct is empty, after gather_init. */
#ifndef METER_GATHER_H
#define METER_GATHER_H

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/metered.h"

#define GATHER_MAX 8192

struct gathered {
	struct metered m; /* texts in the arena; as old as the older one of its two figures */
	int64_t compute_at, mem_at;
};

struct gather {
	VEC_FIELDS(struct gathered);
	struct map index;
	struct arena arena;
};

void gather_init(struct gather *g); /* must not be moved from here on */
void gather_finish(struct gather *g);
void gather_reset(struct gather *g);
/* False: there are too many. */
MUST_CHECK bool gather_take(struct gather *g, const struct metered *m);

#endif
