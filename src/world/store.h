/* The inside of the world, shared by its files. */
#ifndef WORLD_STORE_H
#define WORLD_STORE_H

#include "base/alloc.h"
#include "base/bits.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/slab.h"
#include "base/str.h"
#include "base/tally.h"
#include "base/vec.h"
#include "missed.h"
#include "world/node_states.h"
#include "world/world.h"

struct world_slice {
	struct table_row row; /* the name is interned */
	uint32_t node;
};

/* Labels that ordinary pods of a namespace ever carried. */
#define SIGHTING_BITS 1024
struct sighting {
	struct table_row row; /* the name is the namespace, interned */
	uint64_t bits[SIGHTING_BITS / 64];
};

struct sync_state {
	bool complete; /* a list was complete once */
	bool stale;
	bool relisting;
	bool blind;	/* an object that is not known here could not be read */
	bool blind_now; /* and that was since the relist that runs began */
	uint32_t mark;	/* of the relist that runs or ran last */
};

struct world {
	struct intern *words;
	VEC_OF(struct world_pod *) pods; /* owned, NULL where free */
	VEC_OF(uint32_t) free_pods;
	struct slab records;		    /* of pods, and of what they take */
	VEC_OF(struct world_takes *) takes; /* owned, NULL where free */
	VEC_OF(uint32_t) free_takes;
	struct map takes_same;
	struct map pods_by_name;
	size_t pod_count;
	/* GPU pods by class; each knows its place in its list */
	struct {
		VEC_FIELDS(uint32_t);
	} gpu_pods[WORLD_CLASSES];
	struct map gpu_by_uid; /* to slots of pods */
	struct bits changed;   /* slots, as world_changed_pods has it */
	uint64_t policies_version;
	struct table departed;		   /* struct world_departed, by uid */
	struct table missed;		   /* struct missed */
	VEC_OF(struct world_node *) nodes; /* owned */
	struct map nodes_by_name;
	struct table policies;			    /* struct world_policy */
	VEC_OF(const struct policy *) policy_views; /* borrowed, one for each of policies */
	struct table namespaces;		    /* struct world_namespace; none goes */
	struct table ranges; /* only those that limit GPUs; their texts are interned */
	struct table quotas; /* struct world_quota; only those that bound GPUs */
	struct table slices; /* struct world_slice */
	struct table claims; /* struct world_claim */
	struct tally spaces; /* by namespace: bytes of large pods before they are squeezed */
	size_t cut_pods;     /* GPU pods of which something was left out */
	/* struct sighting; apart from namespaces: these are no part of what is saved */
	struct table sightings;
	uint32_t claims_unused; /* entries that nobody names any more */
	uint64_t claims_version;
	struct sync_state sync[KIND_ENGINE];
	uint64_t version;
	uint64_t policy_version;
	uint64_t nodes_version;
	struct str scratch, squeezed; /* packing */
};

/* Of a kind whose watch a table follows by itself; NULL: it does not. */
static inline struct table *table_of(const struct world *w, enum kind kind)
{
	const struct table *t = kind == KIND_POLICY	   ? &w->policies
				: kind == KIND_LIMIT_RANGE ? &w->ranges
				: kind == KIND_QUOTA	   ? &w->quotas
				: kind == KIND_SLICE	   ? &w->slices
							   : NULL;
	return (struct table *)(uintptr_t)t;
}

static inline struct world_quota *quota_at(const struct world *w, size_t i)
{
	return (struct world_quota *)(void *)w->quotas.rows.items[i];
}

static inline struct world_claim *claim_at(const struct world *w, size_t i)
{
	return (struct world_claim *)(void *)w->claims.rows.items[i];
}

static inline struct world_departed *departed_at(const struct world *w, size_t i)
{
	return (struct world_departed *)(void *)w->departed.rows.items[i];
}

static inline void node_stamp(struct world *w, struct world_node *n)
{
	n->stamp = ++w->nodes_version;
}

static inline void pod_changed(struct world *w, uint32_t slot)
{
	bits_reserve(&w->changed, w->pods.count);
	bits_put(&w->changed, slot, true);
}

/* Shares a GPU, or holds one for those who do. */
static inline bool is_sharer(const struct world_pod *p)
{
	return p->gpu != NULL && (p->gpu->class == WORLD_TENANT || p->gpu->class == WORLD_CAPACITY);
}

struct pod_key {
	const char *ns;
	const char *name;
};

/* A person may write any request and name a node, and the sums must not overflow: no machine has
 * 64 TiB for one pod, and no node has 131072 pods. */
static inline int64_t summable(int64_t amount)
{
	const int64_t most = INT64_MAX >> 17;
	return amount < most ? amount : most;
}

/* What is kept of the uid of an ordinary pod. */
#define PODS_BRIEF_SIZE 10

#endif
