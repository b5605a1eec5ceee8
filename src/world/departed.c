/* Tenants that are gone, and how they went: what is remembered of a pod after its object. A bounded
 * number is kept, and the owner drops what it does not need. */
#include "departed.h"

#include <stdlib.h>

static bool departed_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	return strcmp(w->departed.items[slot].uid, key) == 0;
}

void departed_init(struct world *w)
{
	map_init(&w->departed_by_uid, departed_same, w);
}

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

static void departed_free(struct world *w, struct world_departed *d)
{
	intern_release(w->words, d->ns);
	intern_release(w->words, d->uuid);
	free(d->name);
	free(d->uid);
}

void departed_finish(struct world *w)
{
	vec_for_each (struct world_departed, d, &w->departed) {
		departed_free(w, d);
	}
	VEC_FINISH(&w->departed);
	map_finish(&w->departed_by_uid);
}

void world_departed_drop(struct world *w, size_t i)
{
	struct world_departed *d = &w->departed.items[i];
	uint32_t last = (uint32_t)w->departed.count - 1;
	map_remove(&w->departed_by_uid, key_text(d->uid), (uint32_t)i);
	if (i != last) {
		uint64_t moved = key_text(w->departed.items[last].uid);
		map_remove(&w->departed_by_uid, moved, last);
		map_put(&w->departed_by_uid, moved, (uint32_t)i);
	}
	count_leaver(w, d, -1);
	departed_free(w, d);
	VEC_REMOVE_SWAP(&w->departed, i);
}

/* One that has ended is forgotten before one that may run. */
static void forget_one(struct world *w)
{
	size_t i = 0;
	while (i < w->departed.count && !w->departed.items[i].ended) {
		i++;
	}
	world_departed_drop(w, i < w->departed.count ? i : 0);
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
	uint32_t known =
		map_find(&w->departed_by_uid, key_text(world_pod_uid(p)), world_pod_uid(p));
	if (known != MAP_NONE) {
		world_departed_drop(w, known);
	} else if (w->departed.count >= WORLD_DEPARTED_MAX) {
		forget_one(w);
	}
	struct world_departed d = {.uid = xstrdup(world_pod_uid(p)),
		.name = xstrdup(world_pod_name(p)),
		.ns = intern_add(w->words, p->ns),
		.uuid = intern_add(w->words, p->gpu->uuid),
		.node = p->node,
		.milli = p->gpu->milli,
		.mem_mib = p->gpu->mem_mib,
		.ended = containers_ended(w, p, told)};
	count_leaver(w, &d, 1);
	VEC_PUSH(&w->departed, d);
	map_put(&w->departed_by_uid, key_text(d.uid), (uint32_t)w->departed.count - 1);
}

struct world_departed *world_departed_find(struct world *w, const char *uid)
{
	uint32_t slot = map_find(&w->departed_by_uid, key_text(uid), uid);
	return slot == MAP_NONE ? NULL : &w->departed.items[slot];
}

size_t world_departed_count(const struct world *w)
{
	return w->departed.count;
}

struct world_departed *world_departed_at(struct world *w, size_t i)
{
	return &w->departed.items[i];
}
