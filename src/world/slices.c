/* Which nodes publish GPUs through DRA: one small record a ResourceSlice of NVIDIA's driver. */
#include "slices.h"

#include <stdlib.h>

#include "nodes.h"

static void slice_drop(void *data, struct table_row *row)
{
	struct world *w = data;
	struct world_slice *gone = (struct world_slice *)(void *)row;
	if (--w->nodes.items[gone->node]->dra_slices == 0) {
		node_stamp(w, w->nodes.items[gone->node]);
	}
	intern_release(w->words, row->name);
	free(gone);
	w->version++;
}

void slices_init(struct world *w)
{
	table_init(&w->slices, slice_drop, w);
}

void slices_set(struct world *w, const struct gpu_slice *s)
{
	struct table_row *old = table_find(&w->slices, "", s->name);
	if (old != NULL) {
		table_remove(&w->slices, old);
	}
	if (s->node == NULL) {
		return;
	}
	struct world_slice *made = xcalloc(1, sizeof *made);
	made->row = (struct table_row){.ns = "", .name = intern_add(w->words, s->name)};
	made->node = nodes_touch(w, s->node);
	table_add(&w->slices, &made->row);
	if (w->nodes.items[made->node]->dra_slices++ == 0) {
		node_stamp(w, w->nodes.items[made->node]);
	}
	w->version++;
}
