/* What is kept for somebody: a GPU that nobody else joins, a node on which nobody else opens one.
 */
#ifndef PLACE_KEPT_H
#define PLACE_KEPT_H

#include "place/picture.h"

/* From now on nobody joins this GPU, or opens one on this node. Who came first keeps it. */
void place_keep_gpu(struct snapshot *s, uint32_t gpu, uint32_t keeper);
void place_keep_node(struct snapshot *s, uint32_t node, uint32_t keeper);
/* The first thing kept that the request could have otherwise; NULL: there is none. */
const struct place_keep *place_kept_from(const struct snapshot *s, const struct place_request *r);
/* A GPU that is kept, and on which it would be short of something all the same, is nearer to it
 * than any that does not suit it: the verdict, which names none, is then of the nearest of those.
 */
void place_note_kept(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *v);

#endif
