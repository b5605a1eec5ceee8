/* Where a new pod would find room, by the ledgers as they are written: an estimate. Who decides is
 * the engine, once the pod is there; what it knows besides (volumes, ports, neighbours, GPUs that
 * are ill, who waits) is not asked here, so a pod may wait that was told to have room. Never the
 * other way round, but for a node that nobody has opened yet. */
#ifndef SIZER_ROOMS_H
#define SIZER_ROOMS_H

#include "base/vec.h"
#include "model/policy.h"
#include "model/recommendation.h"
#include "model/workload.h"
#include "roll/roll.h"
#include "world/world.h"

#include "devices.h"

/* With whom its policy lets a pod share a GPU: those of the same number, as the engine has it. Any
 * other number is a workload's, whose pods keep to themselves. */
#define ROOM_ANYBODY 0
#define ROOM_NOBODY  1
uint64_t rooms_company(enum exclusivity exclusivity, const struct workload_key *key);

/* One GPU that is shared already. */
struct room {
	uint64_t name;		/* a hash of its capacity pod's */
	uint32_t node;		/* of the world */
	uint32_t tenants, most; /* how many there are, and may be by their policies */
	uint64_t company;	/* theirs */
	int64_t milli, mib;	/* that nobody has */
	bool mps;
};

struct rooms {
	struct {
		VEC_FIELDS(struct room);
	} list;
};

/* Who asks. */
struct room_ask {
	const struct world *world;
	const struct pod *pod; /* borrowed; like the one that would be made */
	const struct share *want;
	const struct devices *devices;
	bool mps;
	uint64_t company;
	uint32_t most; /* tenants of one GPU */
	/* not on the GPUs of those capacity pods, hashes of their names; NULL: on any */
	const uint64_t *apart;
	uint32_t apart_count;
};
/* One of those that a capacity pod's ledger names; NULL: nothing is known of it. */
struct room_tenant {
	const struct policy *policy; /* NULL: none that is there */
	const struct workload_key *key;
};
/* By uid; whoever collects rooms knows who has them. */
struct room_tenants {
	const void *data;
	struct room_tenant (*find)(const void *data, const char *uid);
};

void rooms_finish(struct rooms *r);
void rooms_clear(struct rooms *r);
/* A capacity pod and what it told; one that takes nobody is left out. */
void rooms_add(struct rooms *r, const struct world_pod *wp, const struct pod *pod,
	const struct room_tenants *tenants);
/* Beside whatever runs. */
enum roll_room rooms_find(const struct rooms *r, const struct room_ask *ask);
/* On a node more: one like those that are there, full or not, would do. What pools without a node
 * have nobody knows here. */
bool rooms_could_be_added(const struct room_ask *ask);
/* On the GPU of that capacity pod, once `has` of it is given back. */
bool rooms_fit_after(const struct rooms *r, const struct room_ask *ask, const char *capacity_pod,
	const struct share *has);

#endif
