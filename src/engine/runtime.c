/* The class of capacity pods, kept. */
#include "record/tables.h"
#include "state.h"

void runtime_take(struct engine *e, const struct runtime_class *r)
{
	struct arena fresh = {.block_bytes = 256};
	struct runtime_class taken = {0};
	if (r != NULL) {
		record_copy(&fresh, &runtime_class_table, r, &taken);
	}
	arena_finish(&e->runtime.arena);
	e->runtime = (struct runtime){taken, fresh, r != NULL};
	e->time.dirty = true;
}

const struct runtime_class *runtime_of(const struct engine *e)
{
	return e->runtime.known ? &e->runtime.class : NULL;
}
