/* Reads where the volumes of waiting tenants are (docs/design/feasibility.md).
 *
 * The world knows which claims are named by tenants with our gate; each of them is read, with the
 * volume or the class that it names, and read again while that may change. What was learned is told
 * as a change. Nothing is watched: of a hundred thousand claims those cost something that a waiting
 * tenant names. */
#ifndef LOOKUP_VOLUMES_H
#define LOOKUP_VOLUMES_H

#include "base/part.h"
#include "kube/client.h"
#include "model/change.h"
#include "world/world.h"

#define VOLUMES_IN_FLIGHT_MAX 16

struct volumes;

/* `world` is borrowed; `tell` must end up in it. */
struct volumes *volumes_create(struct kube *kube, const struct world *world, uint64_t seed,
	bool (*tell)(void *data, const struct change *c), void *data);
/* Only a leader asks. */
extern const struct part volumes_part;

#endif
