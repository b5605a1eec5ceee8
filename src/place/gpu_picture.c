/* The picture that requests are held against, and its index. */
#include "place/gpu_picture.h"

#include "index_build.h"

void snapshot_index(struct snapshot *s)
{
	index_make(s);
}

void snapshot_gpu_moved(struct snapshot *s, uint32_t gpu)
{
	if (index_is_built(s)) {
		index_gpu_changed(s, gpu);
		index_node_changed(s, s->gpus.items[gpu].node);
	}
}

void snapshot_node_moved(struct snapshot *s, uint32_t node)
{
	if (index_is_built(s)) {
		index_node_changed(s, node);
	}
}

void snapshot_clear(struct snapshot *s)
{
	VEC_CLEAR(&s->nodes);
	VEC_CLEAR(&s->gpus);
	VEC_CLEAR(&s->others);
	VEC_CLEAR(&s->promised);
	VEC_CLEAR(&s->keeps);
	if (s->index != NULL) {
		index_drop(s->index);
	}
}

void snapshot_finish(struct snapshot *s)
{
	VEC_FINISH(&s->nodes);
	VEC_FINISH(&s->gpus);
	VEC_FINISH(&s->others);
	VEC_FINISH(&s->promised);
	VEC_FINISH(&s->keeps);
	index_free(s->index);
	s->index = NULL;
}
