/* The GPUs of the picture by the UUID that their capacity pods tell. A word counts for its own
 * node: what a node tells that lies, or that somebody got hold of, must reach nothing on another
 * one. So a UUID names a GPU together with the node, and two nodes that tell the same one are two
 * GPUs. Of this step; nothing here fails. */
#ifndef ENGINE_GPU_INDEX_H
#define ENGINE_GPU_INDEX_H

#include <stdint.h>

struct engine;
struct world_pod;

void gpu_index_begin(struct engine *e);
void gpu_index_add(struct engine *e, uint32_t gpu);	      /* which is in the picture */
uint32_t snap_node_at(const struct engine *e, uint32_t node); /* of the world's index */
/* Places in the picture, WORLD_NONE: none. `node` is one of the picture's, too. */
uint32_t snap_gpu_on(const struct engine *e, const char *uuid, uint32_t node);
/* Of a tenant: on the node where it runs, or will. */
uint32_t snap_gpu_of_pod(const struct engine *e, const struct world_pod *p, const char *uuid);
/* All that tell it, wherever they are. */
uint32_t snap_gpu_first(const struct engine *e, const char *uuid);
uint32_t snap_gpu_next(const struct engine *e, uint32_t gpu);

#endif
