/* Namespaces by name: what is in one may be seen before itself. */
#include "world/namespaces.h"

#include <stdlib.h>

#include "namespaces.h"

#define SMALL_ARENA 768

static void namespace_drop(void *data, struct table_row *row)
{
	struct world_namespace *n = (struct world_namespace *)(void *)row;
	(void)data;
	arena_finish(&n->arena);
	VEC_FINISH(&n->quotas);
	free(n);
}

void namespaces_init(struct world *w)
{
	table_init(&w->namespaces, namespace_drop, w);
}

struct world_namespace *namespace_touch(struct world *w, const char *name)
{
	struct table_row *known = table_find(&w->namespaces, "", name);
	if (known != NULL) {
		return (struct world_namespace *)(void *)known;
	}
	struct world_namespace *n = xcalloc(1, sizeof *n);
	n->arena.block_bytes = SMALL_ARENA;
	n->noun.name = arena_strdup(&n->arena, name);
	n->row = (struct table_row){.ns = "", .name = n->noun.name};
	table_add(&w->namespaces, &n->row);
	return n;
}

const struct world_namespace *world_namespace_find(const struct world *w, const char *name)
{
	return (const struct world_namespace *)(const void *)table_find(&w->namespaces, "", name);
}
