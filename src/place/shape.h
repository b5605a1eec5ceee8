/* What does not change within a step, a request's node selector against a node's labels and the
 * like, is judged once for all requests that say the same. */
#ifndef PLACE_SHAPE_H
#define PLACE_SHAPE_H

#include "index.h"

/* The shapes that there were before may move. */
struct shape *shape_of(const struct snapshot *s, const struct place_request *r);
enum unfit shape_lasting(const struct snapshot *s, const struct place_request *r,
	struct shape *shape, uint32_t node);
enum unfit shape_unfit(const struct snapshot *s, const struct place_request *r, struct shape *shape,
	uint32_t node, const struct place_node *n);
void shapes_drop(struct place_index *x);

#endif
