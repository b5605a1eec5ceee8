/* The class of capacity pods, kept. */
#include "state.h"

void runtime_take(struct engine *e, const struct runtime_class *r)
{
	struct arena fresh = {.block_bytes = 256};
	struct runtime_class taken = {0};
	if (r != NULL) {
		taken = (struct runtime_class){
			.cpu_milli = r->cpu_milli, .mem_bytes = r->mem_bytes};
		taken.selector.items = ARENA_ARRAY(&fresh, struct pair, r->selector.count);
		taken.selector.count = r->selector.count;
		for (uint32_t i = 0; i < r->selector.count; i++) {
			const struct pair *p = &r->selector.items[i];
			taken.selector.items[i] = (struct pair){
				arena_strdup(&fresh, p->key), arena_strdup(&fresh, p->value)};
		}
	}
	arena_finish(&e->runtime.arena);
	e->runtime = (struct runtime){taken, fresh, r != NULL};
	e->time.dirty = true;
}

const struct runtime_class *runtime_of(const struct engine *e)
{
	return e->runtime.known ? &e->runtime.class : NULL;
}
