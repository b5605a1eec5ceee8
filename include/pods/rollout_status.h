/* The owner of a workload, read live: JSON to struct standing. */
#ifndef PODS_ROLLOUT_STATUS_H
#define PODS_ROLLOUT_STATUS_H

#include <stdbool.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "model/standing.h"

/* `kind` says how its status is read; of one that is not known the course is STANDING_UNKNOWN. Text
 * lives in the arena; FAULT_INVALID names the path. */
MUST_CHECK int standing_decode(struct view json, const char *kind, struct arena *arena,
	struct standing *ret_standing, struct fault *ret_fault);

/* The body of a 404: is it this object that is not there, rather than its whole kind? */
bool standing_is_absent(struct view json, const char *name);

#endif
