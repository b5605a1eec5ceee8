/* The class of capacity pods, kept. */
#include "ledger/runtime.h"

#include "ledger/ledger.h"
#include "record/tables.h"

void runtime_take(const struct picture *picture, const struct runtime_class *r)
{
	struct arena fresh = {.block_bytes = 256};
	struct runtime_class taken = {0};
	if (r != NULL) {
		record_copy(&fresh, &runtime_class_table, r, &taken);
	}
	arena_finish(&picture->runtime->arena);
	(*picture->runtime) = (struct runtime){taken, fresh, r != NULL};
	picture->time->dirty = true;
}

const struct runtime_class *runtime_of(const struct runtime *runtime)
{
	return runtime->known ? &runtime->class : NULL;
}
