/* Namespaces by name: what is in one may be seen before itself. */
#include "world/namespaces.h"
#include "namespaces.h"

#define SMALL_ARENA 768

struct world_namespace *namespace_touch(struct world *w, const char *name)
{
	uint32_t i = map_find(&w->namespaces_by_name, key_text(name), name);
	if (i != MAP_NONE) {
		return w->namespaces.items[i];
	}
	struct world_namespace *n = xcalloc(1, sizeof *n);
	n->arena.block_bytes = SMALL_ARENA;
	n->noun.name = arena_strdup(&n->arena, name);
	VEC_PUSH(&w->namespaces, n);
	map_put(&w->namespaces_by_name, key_text(name), (uint32_t)w->namespaces.count - 1);
	return n;
}

const struct world_namespace *world_namespace_find(const struct world *w, const char *name)
{
	uint32_t i = map_find(&w->namespaces_by_name, key_text(name), name);
	return i == MAP_NONE ? NULL : w->namespaces.items[i];
}
