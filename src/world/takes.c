/* What pods take of their nodes, each combination kept once. */
#include "takes.h"

#include "uses.h"

/* Its words are interned, so that the same text is the same pointer. */
static uint64_t takes_hash(const struct world_takes *t)
{
	const int64_t amounts[] = {t->cpu_milli, t->mem_bytes};
	return key_bytes(amounts, sizeof amounts, key_text(t->extra));
}

static bool takes_equal(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	const struct world_takes *t = w->takes.items[slot], *k = key;
	return t->cpu_milli == k->cpu_milli && t->mem_bytes == k->mem_bytes && t->extra == k->extra;
}

void takes_init(struct world *w)
{
	map_init(&w->takes_same, takes_equal, w);
}

void takes_finish(struct world *w)
{
	for (size_t i = 0; i < w->takes.count; i++) {
		slab_free(&w->records, w->takes.items[i], sizeof(struct world_takes));
	}
	VEC_FINISH(&w->takes);
	VEC_FINISH(&w->free_takes);
	map_finish(&w->takes_same);
}

static struct world_takes *takes_create(struct world *w, const struct world_takes *like)
{
	struct world_takes *t = slab_alloc(&w->records, sizeof *t);
	*t = *like;
	if (w->free_takes.count > 0) {
		t->slot = w->free_takes.items[--w->free_takes.count];
		w->takes.items[t->slot] = t;
	} else {
		t->slot = (uint32_t)w->takes.count;
		VEC_PUSH(&w->takes, t);
	}
	map_put(&w->takes_same, takes_hash(t), t->slot);
	return t;
}

const struct world_takes *takes_of(struct world *w, const struct pod *pod)
{
	const struct world_takes key = {.cpu_milli = summable(pod->cpu_milli),
		.mem_bytes = summable(pod->mem_bytes),
		.extra = uses_intern(w, &pod->extra)};
	uint32_t at = map_find(&w->takes_same, takes_hash(&key), &key);
	struct world_takes *t = at != MAP_NONE ? w->takes.items[at] : takes_create(w, &key);
	if (at != MAP_NONE) {
		intern_release(w->words, key.extra); /* it has one already */
	}
	t->pods++;
	return t;
}

void takes_release(struct world *w, const struct world_takes *t)
{
	if (t == NULL || --w->takes.items[t->slot]->pods > 0) {
		return;
	}
	map_remove(&w->takes_same, takes_hash(t), t->slot);
	intern_release(w->words, t->extra);
	VEC_PUSH(&w->free_takes, t->slot);
	slab_free(&w->records, TAKE(w->takes.items[t->slot]), sizeof *t);
}

bool takes_agree(const struct world *w)
{
	size_t named = 0;
	for (size_t i = 0; i < w->takes.count; i++) {
		named += w->takes.items[i] != NULL ? w->takes.items[i]->pods : 0;
	}
	for (size_t i = 0; i < w->pods.count; i++) {
		const struct world_pod *p = w->pods.items[i];
		if (p != NULL && w->takes.items[p->takes->slot] != p->takes) {
			return false;
		}
	}
	return named == w->pod_count && w->takes_same.count + w->free_takes.count == w->takes.count;
}
