/* What the engine knows of a step's picture beside what place needs. Scratch of one step: nothing
 * here is owned or lasts. */
#ifndef ENGINE_PICTURE_H
#define ENGINE_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/policy.h"

struct arena;
struct holder;
struct world_pod;
struct waiter;

/* One GPU of the snapshot and what it came from. */
struct snap_gpu {
	struct holder *holder;
	uint32_t entries;    /* live ones of the effective ledger */
	uint32_t dead;	     /* entries that can be pruned */
	uint32_t added;	     /* decided in this step */
	uint32_t demand;     /* chosen by waiters, written now or later */
	uint32_t keepers;    /* tenants whose node no autoscaler may take */
	uint32_t forgotten;  /* tenants that run on it and are not in the ledger */
	bool yields;	     /* it goes at once, for a whole pod */
	bool confirms;	     /* its ledger is to be written again, as it is */
	uint32_t given_back; /* of `dead`: those that must not wait for the next write */
	/* for people: the rules of a tenant of it */
	enum exclusivity exclusivity;
	uint32_t strangers; /* of whose rules nothing is known */
	uint32_t same;	    /* the next that tells the same UUID; WORLD_NONE: none */
};

struct chosen {
	struct waiter *waiter;
	uint32_t gpu;
	int64_t milli, mem_mib;
};

/* The object of a pod that was read whole, as a tenant's was; what it points to is the arena's. */
struct pod pod_of(const struct world_pod *p, struct arena *arena);

#endif
