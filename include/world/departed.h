/* Tenants whose object is gone, and how they went. The world owns them; what is returned is
 * borrowed until the next world_apply or drop. Nothing here fails. */
#ifndef WORLD_DEPARTED_H
#define WORLD_DEPARTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

struct world;

/* A tenant whose object is gone: a deletion that the watch told of, or one that a complete list
 * came without. What is merely absent is not here. */
struct world_departed {
	struct table_row row;
	char *uid;	  /* owned */
	char *name;	  /* owned */
	const char *ns;	  /* interned */
	const char *uuid; /* interned; a list; NULL: it was never placed */
	uint32_t node;	  /* index, WORLD_NONE: it was never bound */
	int64_t milli, mem_mib;
	bool ended;	 /* its containers have ended or never begun, as far as the cluster tells */
	uint64_t needed; /* the owner's mark; not kept by world_save */
};

/* So many are remembered; for one more another one is forgotten. */
#define WORLD_DEPARTED_MAX 1024

struct world_departed *world_departed_find(struct world *w, const char *uid);
size_t world_departed_count(const struct world *w);
struct world_departed *world_departed_at(struct world *w, size_t i);
/* Another one takes its place in the row. */
void world_departed_drop(struct world *w, size_t i);
/* The containers of the tenant have certainly ended. */
void world_departed_end(struct world *w, struct world_departed *d);

#endif
