/* The inside of place, shared by its files. */
#ifndef PLACE_PARTS_H
#define PLACE_PARTS_H

#include "place/place.h"

/* fit.c: why a node does not suit the request, in two halves. What lasts for the whole of a step is
 * asked first and can be remembered; the rest depends on what was reserved meanwhile. */
enum unfit fit_lasting(
	const struct place_request *r, const struct place_node *n, const char **ret_what);
enum unfit fit_passing(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, const char **ret_what);

/* place.c: the walks, which need no index */
struct place_verdict walk_best_fit(const struct snapshot *s, const struct place_request *r);
struct place_verdict walk_open(const struct snapshot *s, const struct place_request *r);
/* One GPU or node, and what is told of those that do not fit */
enum reason place_gpu_fits(
	const struct place_gpu *g, const struct place_request *r, int64_t milli, int64_t mib);
bool place_better(const struct snapshot *s, const struct place_request *r,
	const struct place_gpu *a, const struct place_gpu *b);
void place_settle(struct place_verdict *v, size_t looked_at);
bool place_opens(const struct place_node *n);
bool place_above_quota(const struct place_request *r, int64_t milli);
bool place_opens_above_quota(const struct place_node *n, const struct place_request *r);
void place_note_quota(struct place_verdict *v);
void place_note_closed(struct place_verdict *v, const struct place_node *n, bool rests);

/* index.c: the same verdicts as place.c's walks, found without looking at what cannot fit */
struct place_verdict index_best_fit(const struct snapshot *s, const struct place_request *r);
struct place_verdict index_open(const struct snapshot *s, const struct place_request *r);

/* index_build.c */
bool index_is_built(const struct snapshot *s);
void index_gpu_changed(struct snapshot *s, uint32_t gpu);
void index_node_changed(struct snapshot *s, uint32_t node);
void index_drop(struct place_index *x); /* forgets the picture; its memory is kept */
void index_free(struct place_index *x);

#endif
