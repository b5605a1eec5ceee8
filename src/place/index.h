/* What the index of a picture consists of.
 *
 * GPUs that nobody may join (fenced, full of tenants, nothing free, tenants that disagree) are in
 * no tree of `fit`. A request that tells memory alone means another share on GPUs of another size,
 * and it may join its own company only, so there is one tree a company and size. The trees for
 * refusals, for openings and for those who spread are made when the first request needs them. */
#ifndef PLACE_INDEX_H
#define PLACE_INDEX_H

#include "place/gpu_picture.h"
#include "tree.h"

/* GPUs of one company and size: best fit first, and the most free first. */
struct size_class {
	uint64_t company;
	int64_t usable_mib;
	uint32_t root, spread_root;
};

/* All requests that say the same about nodes, and what that means for each node. */
struct shape {
	char *key; /* owned */
	size_t key_bytes;
	uint8_t *causes; /* owned; by node: enum unfit, or SHAPE_UNKNOWN */
	uint32_t asked;	 /* how many requests came */
	uint32_t *nodes; /* owned; those that suit, once there is more than one request */
	uint32_t node_count;
};

#define SHAPE_UNKNOWN 0xFF
/* More than these differ in a step only by what is asked once, such as volumes of their own. */
#define SHAPES_MAX 256

struct numbers {
	VEC_FIELDS(uint32_t);
};

struct leaves {
	VEC_FIELDS(struct tree_leaf);
};

struct place_index {
	bool built, knows_misses, knows_opens, knows_spread;
	VEC_OF(struct size_class) classes; /* by company, then size */
	struct leaves fit, spread, miss;   /* by GPU */
	VEC_OF(uint64_t) company;	   /* by GPU: under which it is in a tree */
	struct leaves open;		   /* by node */
	uint32_t miss_root, open_root;
	struct numbers rank;	  /* by node: its place among all names */
	struct numbers first_gpu; /* by node; TREE_NONE: it has none */
	struct numbers next_gpu;  /* by GPU: another one of its node */
	struct numbers sorted, spine;
	VEC_OF(struct shape) shapes;
};

/* The same verdicts as the walks', found without looking at what cannot fit. */
struct place_verdict index_best_fit(const struct snapshot *s, const struct place_request *r);
struct place_verdict index_open(const struct snapshot *s, const struct place_request *r);

#endif
