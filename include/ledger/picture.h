/* What the engine knows of a step's picture beside what place needs. Scratch of one step: nothing
 * here is owned or lasts, and nothing fails.
 *
 * The GPUs of the picture are found by the UUID that their capacity pods tell. A word counts for
 * its own node: what a node tells that lies, or that somebody got hold of, must reach nothing on
 * another one. So a UUID names a GPU together with the node, and two nodes that tell the same one
 * are two GPUs. */
#ifndef LEDGER_PICTURE_H
#define LEDGER_PICTURE_H

#include "base/map.h"
#include "base/vec.h"
#include "ledger/kept_picture.h"
#include "ledger/nouns.h"
#include "model/policy.h"
#include "place/place.h"

struct engine_config;
struct runtime;
struct world_gpu;

/* One GPU of the snapshot and what it came from. */
struct snap_gpu {
	struct holder *holder;
	uint32_t entries;    /* live ones of the effective ledger */
	uint32_t dead;	     /* entries that can be pruned */
	uint32_t added;	     /* decided in this step */
	uint32_t demand;     /* chosen by waiters, written now or later */
	uint32_t node_pins;  /* tenants whose node no autoscaler may take */
	uint32_t forgotten;  /* tenants that run on it and are not in the ledger */
	bool yields;	     /* it goes at once, for a whole pod */
	bool confirms;	     /* its ledger is to be written again, as it is */
	uint32_t given_back; /* of `dead`: those that must not wait for the next write */
	/* for people: the rules of a tenant of it */
	enum exclusivity exclusivity;
	uint32_t strangers; /* of whose rules nothing is known */
	uint32_t same;	    /* the next that tells the same UUID; WORLD_NONE: none */
	bool repeats;	    /* one before it tells the same UUID */
};

/* The picture itself. */
struct picture {
	const struct engine_config *cfg; /* borrowed, as are the next four */
	struct step_time *time;
	struct world *world;
	struct book *book;
	struct runtime *runtime;
	struct snapshot snap;
	uint32_t searches;		   /* for a GPU */
	size_t looked_at;		   /* GPUs, nodes and guests, by the decision that runs */
	uint32_t forgotten;		   /* tenants that run and that no ledger counts */
	VEC_OF(struct snap_gpu) snap_gpus; /* beside snap.gpus */
	VEC_OF(uint32_t) snap_nodes;	   /* world index of each snapshot node */
	VEC_OF(uint32_t) node_to_snap;	   /* world index to snapshot index */
	VEC_OF(int64_t) told_mib; /* beside snap.nodes: the most that a GPU told there, 0: none */
	struct map gpus_by_uuid;  /* of this step, to places in snap_gpus */
	struct bits counted;	  /* slots of pods: a ledger counted it in this step */
	struct kept kept;
	VEC_OF(uint32_t)
	unsettled; /* indexes of the world's tenants, but for those that run as a ledger says */
};

struct chosen {
	struct waiter *waiter;
	uint32_t gpu;
	int64_t milli, mem_mib;
};

void picture_init(struct picture *picture, const struct engine_config *cfg, struct step_time *time,
	struct world *world, struct book *book);
void picture_finish(struct picture *picture);
void picture_begin(struct picture *picture); /* of another step: there is nothing in it yet */
void gpu_index_add(struct picture *picture, uint32_t gpu); /* which is in the picture */
uint32_t snap_node_of(const struct picture *picture, const char *name); /* NULL: none */
/* The same, without a search where its pod was seen on that node. */
uint32_t snap_node_of_holder(const struct picture *picture, const struct holder *h);
uint32_t snap_node_at(const struct picture *picture, uint32_t node); /* of the world's index */
/* Places in the picture, WORLD_NONE: none. `node` is one of the picture's, too. */
uint32_t snap_gpu_on(const struct picture *picture, const char *uuid, uint32_t node);
/* Of a tenant: on the node where it runs, or will. */
uint32_t snap_gpu_of_pod(
	const struct picture *picture, const struct world_pod *p, const char *uuid);
/* All that tell it, wherever they are. */
uint32_t snap_gpu_first(const struct picture *picture, const char *uuid);
uint32_t snap_gpu_next(const struct picture *picture, uint32_t gpu);
/* The ledger counted the pod of this slot. */
bool snap_counted(const struct picture *picture, uint32_t slot);
/* The first of the tenant's capacity pods, as far as it is known; all of them are on one node. */
struct holder *holder_of_tenant(const struct book *book, const struct world_gpu *tenant);

#endif
