/* The domains of a topology spread, as the scheduler counts them. Nothing here fails. */
#ifndef DEMAND_ZONING_H
#define DEMAND_ZONING_H

#include "base/str.h"
#include "base/vec.h"
#include "ledger/nouns.h"

struct neighbour_term;
struct node;

/* Which nodes a spread counts, and which of them are near each other. */
struct zoning {
	struct str key; /* what was asked, as bytes */
	uint64_t step;	/* of which it is */
	VEC_OF(uint32_t)
	of; /* beside the world's nodes: the number of its value; WORLD_NONE: it does not count */
	uint32_t count; /* values */
};
#define ZONINGS_MAX 16

/* Where a node is by that label, its name where there is none; NULL: nowhere. */
const char *zoning_value(const struct node *n, const char *key);
/* Of a spread of the pod. Valid until ZONINGS_MAX others were asked for. */
const struct zoning *zoning_of(
	struct needs *needs, const struct pod *pod, const struct neighbour_term *spread);
void zonings_finish(struct needs *n);

#endif
