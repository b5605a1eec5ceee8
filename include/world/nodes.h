/* Nodes, with the sums over the pods that are bound to them. */
#ifndef WORLD_NODES_H
#define WORLD_NODES_H

#include "base/alloc.h"
#include "base/vec.h"
#include "model/node.h"
#include "model/pod.h"

struct world;

struct world_state;

/* What pods take of a node beside CPU, memory, slots and GPUs; in no particular order. */
struct world_uses {
	VEC_OF(struct amount) amounts;	/* names are interned, each once */
	VEC_OF(struct host_port) ports; /* texts are interned */
};

/* Some pods of the world, by their slots. */
struct world_slots {
	VEC_FIELDS(uint32_t); /* ascending, each once */
};

struct world_node {
	struct arena arena; /* of `noun` */
	const char *name;   /* interned; outlives the noun, since pods may name a node before it is
			       seen */
	bool known;	    /* the Node object exists; `noun` is valid */
	struct node noun;
	uint32_t mark;
	/* sums over the pods bound here that are not terminal */
	int64_t cpu_milli;
	int64_t mem_bytes;
	int64_t gpus; /* whole GPUs asked for, capacity pods included */
	uint32_t pods;
	uint32_t dra_slices; /* C27: ResourceSlices with GPUs of this node */
	uint32_t kai_pods;   /* GPU pods here that KAI's scheduler or its reservations brought */
	uint32_t sharers;    /* tenants and capacity pods here */
	uint32_t leavers;    /* tenants that are gone and may run here all the same */
	struct world_state *state; /* owned; what its agent told last; NULL: nothing */
	struct world_uses uses;
	struct world_slots tenants; /* bound here, ended ones too */
	uint64_t stamp;		    /* the world_nodes_version that it changed with */
};

size_t world_node_slots(const struct world *w);
/* The node in that slot: never NULL, but not always `known`. The slot of a name; WORLD_NONE: no
 * object ever named that node. */
const struct world_node *world_node_at(const struct world *w, uint32_t i);
uint32_t world_node_find(const struct world *w, const char *name);

#endif
