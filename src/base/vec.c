/* Growth of vectors, in one place. */
#include "base/vec.h"

#include "base/alloc.h"

void *vec_grow(void *items, size_t *room, size_t need, size_t item_size)
{
	size_t cap = *room < 4 ? 4 : *room;
	while (cap < need) {
		cap += cap / 2 + 1;
	}
	*room = cap;
	return xreallocarray(items, cap, item_size);
}

void vec_free(void *items)
{
	free(items);
}
