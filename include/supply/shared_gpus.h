/* Where a new pod would find room: an estimate by the ledgers. The engine decides, once the pod is
 * there, and knows more (volumes, ports, neighbours, unhealthy GPUs, other pods that wait): a pod
 * for which this finds room may have to wait. The opposite happens only with a node on which no
 * capacity pod runs yet. */
#ifndef SUPPLY_SHARED_GPUS_H
#define SUPPLY_SHARED_GPUS_H

#include "base/vec.h"
#include "model/policy.h"
#include "model/recommendation.h"
#include "model/workload.h"
#include "roll/roll.h"
#include "world/world.h"

#include "supply/devices.h"

/* The number of the sharing group that a pod's policy puts it into, as in the engine: pods of one
 * number may share a GPU. Any other number is that of a workload whose pods share with no other. */
#define SHARED_BY_ANYBODY 0
#define SHARED_BY_NOBODY  1
uint64_t sharing_group_of(enum exclusivity exclusivity, const struct workload_key *key);

/* One GPU that is shared already. */
struct shared_gpu {
	uint64_t name;		/* a hash of its capacity pod's name */
	uint32_t node;		/* the world's number of its node */
	uint32_t tenants, most; /* how many tenants there are, and may be by their policies */
	uint64_t sharing_group; /* the sharing group of the tenants */
	int64_t milli, mib;	/* what is free */
	bool mps;
};

struct shared_gpus {
	VEC_OF(struct shared_gpu) list;
};

/* The pod for which room is looked for. */
struct share_query {
	const struct world *world;
	const struct pod *pod; /* borrowed; like the one that would be made */
	const struct share *want;
	const struct devices *devices;
	bool mps;
	uint64_t sharing_group;
	uint32_t most; /* tenants of one GPU */
	/* the capacity pods whose GPUs do not count, hashes of their names; NULL: all count */
	const uint64_t *avoided;
	uint32_t avoided_count;
};
/* One tenant that a capacity pod's ledger names. */
struct gpu_tenant {
	const struct policy *policy; /* NULL: the policy does not exist */
	const struct workload_key *key;
};
/* Adds a capacity pod's GPU, unless it takes no tenants; `tenants`: as its ledger has them. */
void shared_gpus_add(struct shared_gpus *r, const struct world_pod *wp, const struct pod *pod,
	const struct gpu_tenant *tenants);
/* The room for a new pod beside all that runs. */
enum roll_room shared_gpus_find(const struct shared_gpus *r, const struct share_query *ask);
/* Would one more node have room, if it is like one of those that are there? Node pools without a
 * node are not known here. */
bool shared_gpus_could_be_added(const struct share_query *ask);
/* Is there room on the GPU of that capacity pod once `has` is given back? */
bool shared_gpus_fit_after(const struct shared_gpus *r, const struct share_query *ask,
	const char *capacity_pod, const struct share *has);

#endif
