/* Whether one GPU takes a share, and what the share is there. */
#ifndef PLACE_GPU_FIT_H
#define PLACE_GPU_FIT_H

#include "place/gpu_picture.h"

/* The share that the request means on a GPU with so much usable memory. */
void place_share(
	const struct place_request *r, int64_t usable_mib, int64_t *ret_milli, int64_t *ret_mib);
/* Could the share ever fit a GPU of this node? */
bool place_share_possible(const struct place_node *n, const struct place_request *r);
/* How one GPU or node is judged, and what the verdict says of those that do not fit. */
enum reason place_gpu_fits(
	const struct place_gpu *g, const struct place_request *r, int64_t milli, int64_t mib);
/* The same of the share that the request means there. */
enum reason place_gpu_takes(const struct place_gpu *g, const struct place_request *r);
/* Tells of the GPU as the closest miss. */
void place_note_miss(const struct snapshot *s, struct place_verdict *v, uint32_t gpu);
bool place_better(const struct snapshot *s, const struct place_request *r,
	const struct place_gpu *a, const struct place_gpu *b);
void place_settle(struct place_verdict *v, size_t looked_at);
bool place_opens(const struct place_node *n);
bool place_above_quota(const struct place_request *r, int64_t milli);
bool place_opens_above_quota(const struct place_node *n, const struct place_request *r);
void place_note_quota(struct place_verdict *v);
void place_note_closed(struct place_verdict *v, const struct place_node *n, bool rests);

#endif
