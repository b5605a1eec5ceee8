/* What is kept: of one object (a scaler of either kind, or a budget), and of all of them. */
#ifndef AROUND_PARTS_H
#define AROUND_PARTS_H

#include "base/alloc.h"
#include "base/vec.h"
#include "model/change.h"
#include "model/zone.h"

struct around_item {
	struct around_item *next_named, *next_placed; /* in their chains */
	struct arena arena;			      /* of its texts */
	enum kind kind;
	uint32_t mark; /* of the relist */
	const char *ns, *name;
	struct scaler scaler;
	const char *gpu_metric; /* NULL: none of its metrics is of a GPU */
	struct budget budget;
};

struct around_zone {
	char name[ZONE_NAME_MAX + 1];
	struct zone zone;
};

#define CHAINS 1024 /* a power of two */

struct watched {
	uint32_t mark, count;
	uint64_t unkept;
	bool complete, relisting, stale, missed, missed_now;
};

struct around {
	struct around_item *named[CHAINS]; /* owned */
	struct around_item *placed[CHAINS];
	struct watched scalers, scaled_objects, budgets;
	size_t bytes;
	struct {
		VEC_FIELDS(struct around_zone);
	} zones;
};

/* NULL: it would take more than AROUND_TEXT_MAX. */
struct around_item *around_item_create(const struct change *c);
void around_item_destroy(struct around_item *i);

#endif
