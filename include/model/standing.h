/* How the owner of a workload stands, as it was read live: asked for by ACTION_READ_OWNER, answered
 * in the outcome. A fault (403, a timeout) means that nobody knows: it is never an owner that is
 * not there. */
#ifndef MODEL_STANDING_H
#define MODEL_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"

/* Is a rollout of its own under way? */
enum standing_course {
	STANDING_UNKNOWN, /* its kind does not tell */
	STANDING_STEADY,
	STANDING_MOVES, /* or its status is older than its spec */
};

struct standing {
	bool exists;  /* false: the API server has the kind and not the object; nothing else counts
		       */
	bool leaving; /* it is being deleted */
	const char *uid;
	int64_t generation;
	int32_t wanted; /* spec.replicas; a DaemonSet's desiredNumberScheduled; -1: not told */
	int32_t replicas, updated, ready, available; /* of its status; -1: not told */
	int32_t min_ready_s;
	bool recreates; /* strategy Recreate: its old pods go before new ones come */
	enum standing_course course;
	const struct pod *next; /* as admission will see the next one of its template; NULL: not
				   told, or not understood */
};

#endif
