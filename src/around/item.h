/* One object that acts on a workload's pods: a scaler of either kind, or a budget. */
#ifndef AROUND_ITEM_H
#define AROUND_ITEM_H

#include "base/alloc.h"
#include "model/change.h"

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

/* NULL: it would take more than AROUND_TEXT_MAX. */
struct around_item *around_item_create(const struct change *c);
void around_item_destroy(struct around_item *i);

#endif
