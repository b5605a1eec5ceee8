/* What is kept for somebody: a GPU that nobody else joins, a node on which nobody else opens one.
 */
#ifndef PLACE_KEPT_H
#define PLACE_KEPT_H

#include "place/gpu_picture.h"

/* Reserves a GPU, or the GPUs of a node that are not open yet. What is reserved already stays with
 * whoever has it. */
void place_keep_gpu(struct snapshot *s, uint32_t gpu, uint32_t keeper);
void place_keep_node(struct snapshot *s, uint32_t node, uint32_t keeper);
/* The first reservation without which the request would fit there; NULL: there is none. */
const struct place_keep *place_kept_from(const struct snapshot *s, const struct place_request *r);
/* A reserved GPU on which the request would be short of something all the same is a closer miss
 * than any on an unfit node: a verdict that names no GPU names the closest of those then. */
void place_note_kept(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *v);

#endif
