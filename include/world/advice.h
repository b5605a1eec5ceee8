/* Of every GPURecommendation what admission needs: how much each container of the workload's next
 * pod should get. Every replica keeps it, so that a standby answers as the leader does and a
 * restart forgets nothing.
 *
 * It stands beside the world of the engine, whose journal knows nothing of it. A few hundred bytes
 * a workload. */
#ifndef WORLD_ADVICE_H
#define WORLD_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/change.h"
#include "model/recommendation.h"

struct advised_container {
	const char *name;
	struct share target;
};

struct advised {
	struct workload_key target;
	const char *name; /* of the GPURecommendation */
	int64_t revision;
	/* enough is known: the target may be applied. A target whose figures have become stale is
	 * still the best there is. */
	bool ready;
	const struct advised_container *containers; /* those that have a target */
	uint32_t container_count;
};

struct advice;

struct advice *advice_create(void);
void advice_destroy(struct advice *a);
/* What the watch of GPURecommendations said. False: it is too large to be kept. */
bool advice_apply(struct advice *a, const struct change *c);
/* NULL: none for this workload. What another object says about it (anybody may make one in his own
 * namespace) does not count: it must have the name that is the workload's. Borrowed until the next
 * advice_apply. */
const struct advised *advice_find(const struct advice *a, const struct workload_key *key);
size_t advice_count(const struct advice *a);

#endif
