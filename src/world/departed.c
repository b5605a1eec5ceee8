/* Tenants that are gone, and how they went: what is remembered of a pod after its object. A bounded
 * number is kept, and the owner drops what it does not need. */
#include "departed.h"

#include <stdlib.h>

/* Who may still run is looked for on its node. */
static void count_leaver(struct world *w, const struct world_departed *d, int sign)
{
	if (!d->ended && d->node != WORLD_NONE) {
		w->nodes.items[d->node]->leavers += (uint32_t)sign;
	}
}

void world_departed_end(struct world *w, struct world_departed *d)
{
	count_leaver(w, d, -1);
	d->ended = true;
}

static void departed_drop(void *data, struct table_row *row)
{
	struct world *w = data;
	struct world_departed *d = (struct world_departed *)(void *)row;
	count_leaver(w, d, -1);
	intern_release(w->words, d->ns);
	intern_release(w->words, d->uuid);
	free(d->name);
	free(d->uid);
	free(d);
}

void departed_init(struct world *w)
{
	table_init(&w->departed, departed_drop, w);
}

void world_departed_drop(struct world *w, size_t i)
{
	table_remove(&w->departed, w->departed.rows.items[i]);
}

/* One that has ended is forgotten before one that may run. */
static void forget_one(struct world *w)
{
	size_t i = 0;
	while (i < w->departed.rows.count && !departed_at(w, i)->ended) {
		i++;
	}
	world_departed_drop(w, i < w->departed.rows.count ? i : 0);
}

/* The process has ended where the kubelet said so, by the phase or by taking the pod away after a
 * grace while its node was there to be asked; or where none has begun. Everything else, a deletion
 * by force above all, says something about the object only. A list that came without the pod does
 * not tell what happened since it was seen last: it may have begun in between. */
static bool containers_ended(const struct world *w, const struct world_pod *p, bool told)
{
	if (world_pod_terminal(p)) {
		return true;
	}
	if (p->node == WORLD_NONE) {
		return told;
	}
	const struct world_node *n = w->nodes.items[p->node];
	return p->graceful && n->known && n->noun.ready;
}

void departed_note(struct world *w, const struct world_pod *p, bool told)
{
	struct table_row *known = table_find(&w->departed, "", world_pod_uid(p));
	if (known != NULL) {
		table_remove(&w->departed, known);
	} else if (w->departed.rows.count >= WORLD_DEPARTED_MAX) {
		forget_one(w);
	}
	struct world_departed *d = xcalloc(1, sizeof *d);
	*d = (struct world_departed){.uid = xstrdup(world_pod_uid(p)),
		.name = xstrdup(world_pod_name(p)),
		.ns = intern_add(w->words, p->ns),
		.uuid = intern_add(w->words, p->gpu->uuid),
		.node = p->node,
		.milli = p->gpu->milli,
		.mem_mib = p->gpu->mem_mib,
		.ended = containers_ended(w, p, told)};
	d->row = (struct table_row){.ns = "", .name = d->uid};
	count_leaver(w, d, 1);
	table_add(&w->departed, &d->row);
}

struct world_departed *world_departed_find(struct world *w, const char *uid)
{
	return (struct world_departed *)(void *)table_find(&w->departed, "", uid);
}

size_t world_departed_count(const struct world *w)
{
	return w->departed.rows.count;
}

struct world_departed *world_departed_at(struct world *w, size_t i)
{
	return departed_at(w, i);
}
