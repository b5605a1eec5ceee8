/* Nodes by name: a pod may name one before it is seen, and then it has its place already. */
#include "world/nodes.h"
#include "nodes.h"

uint32_t nodes_touch(struct world *w, const char *name)
{
	uint32_t i = map_find(&w->nodes_by_name, key_text(name), name);
	if (i != MAP_NONE) {
		return i;
	}
	struct world_node *n = xcalloc(1, sizeof *n);
	n->name = intern_add(w->words, name);
	VEC_PUSH(&w->nodes, n);
	i = (uint32_t)w->nodes.count - 1;
	map_put(&w->nodes_by_name, key_text(name), i);
	return i;
}

size_t world_node_slots(const struct world *w)
{
	return w->nodes.count;
}

const struct world_node *world_node_at(const struct world *w, uint32_t i)
{
	return w->nodes.items[i];
}

uint32_t world_node_find(const struct world *w, const char *name)
{
	uint32_t i = map_find(&w->nodes_by_name, key_text(name), name);
	return i == MAP_NONE ? WORLD_NONE : i;
}
