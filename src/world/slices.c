/* Which nodes publish GPUs through DRA: one small record a ResourceSlice of NVIDIA's driver. */
#include "slices.h"

#include <stdlib.h>

#include "nodes.h"

static bool slice_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	return strcmp(w->slices.items[slot].name, key) == 0;
}

void slices_init(struct world *w)
{
	map_init(&w->slices_by_name, slice_same, w);
}

static uint32_t slice_find(const struct world *w, const char *name)
{
	return map_find(&w->slices_by_name, key_text(name), name);
}

static void slice_remove(struct world *w, uint32_t at)
{
	struct slice_key gone = w->slices.items[at];
	uint32_t last = (uint32_t)w->slices.count - 1;
	uint64_t last_hash = key_text(w->slices.items[last].name);
	map_remove(&w->slices_by_name, key_text(gone.name), at);
	if (last != at) {
		map_remove(&w->slices_by_name, last_hash, last);
	}
	VEC_REMOVE_SWAP(&w->slices, at);
	if (last != at) {
		map_put(&w->slices_by_name, last_hash, at);
	}
	if (--w->nodes.items[gone.node]->dra_slices == 0) {
		node_stamp(w, w->nodes.items[gone.node]);
	}
	intern_release(w->words, gone.name);
	w->version++;
}

void slices_set(struct world *w, const struct gpu_slice *s)
{
	slices_gone(w, s->name);
	if (s->node == NULL) {
		return;
	}
	struct slice_key key = {
		intern_add(w->words, s->name), nodes_touch(w, s->node), w->sync[KIND_SLICE].mark};
	VEC_PUSH(&w->slices, key);
	map_put(&w->slices_by_name, key_text(key.name), (uint32_t)w->slices.count - 1);
	if (w->nodes.items[key.node]->dra_slices++ == 0) {
		node_stamp(w, w->nodes.items[key.node]);
	}
	w->version++;
}

void slices_gone(struct world *w, const char *name)
{
	uint32_t at = slice_find(w, name);
	if (at != MAP_NONE) {
		slice_remove(w, at);
	}
}

void slices_keep(struct world *w, const char *name)
{
	uint32_t at = slice_find(w, name);
	if (at != MAP_NONE) {
		w->slices.items[at].mark = w->sync[KIND_SLICE].mark;
	}
}

void slices_sweep(struct world *w, uint32_t mark)
{
	for (uint32_t i = (uint32_t)w->slices.count; i-- > 0;) {
		if (w->slices.items[i].mark != mark) {
			slice_remove(w, i);
		}
	}
}

void slices_finish(struct world *w)
{
	VEC_FINISH(&w->slices);
	map_finish(&w->slices_by_name);
}

/* For world_check. */
bool slices_agree(const struct world *w)
{
	size_t counted = 0;
	for (size_t i = 0; i < w->nodes.count; i++) {
		counted += w->nodes.items[i]->dra_slices;
	}
	for (size_t i = 0; i < w->slices.count; i++) {
		if (slice_find(w, w->slices.items[i].name) != i) {
			return false;
		}
	}
	return counted == w->slices.count && w->slices_by_name.count == w->slices.count;
}
