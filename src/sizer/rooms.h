/* Where a new pod would find room, by the ledgers as they are written: an estimate. Who decides is
 * the engine, once the pod is there; what it knows besides (volumes, ports, affinity, who waits) is
 * not asked here, so a pod may wait that was told to have room. Never the other way round, but for
 * a node that nobody has opened yet. */
#ifndef SIZER_ROOMS_H
#define SIZER_ROOMS_H

#include "base/vec.h"
#include "model/recommendation.h"
#include "roll/roll.h"
#include "world/world.h"

#include "devices.h"

/* One GPU that is shared already. */
struct room {
	uint64_t name; /* a hash of its capacity pod's */
	uint32_t node; /* of the world */
	uint32_t tenants;
	int64_t milli, mib; /* that nobody has */
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
	bool mps;
	bool alone;	   /* its policy lets nobody be beside it, or only its own */
	const char *apart; /* not on the GPU of that capacity pod; NULL: on any */
};

void rooms_finish(struct rooms *r);
void rooms_clear(struct rooms *r);
/* A capacity pod and what it told; one that takes nobody is left out. */
void rooms_add(struct rooms *r, const struct world_pod *wp, const struct pod *pod);
/* Beside whatever runs. */
enum roll_room rooms_find(const struct rooms *r, const struct room_ask *ask);
/* On the GPU of that capacity pod, once `has` of it is given back. */
bool rooms_fit_after(const struct rooms *r, const struct room_ask *ask, const char *capacity_pod,
	const struct share *has);

#endif
