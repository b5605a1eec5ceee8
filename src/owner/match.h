/* Which key a GPUWorkloadGroup gives a pod. */
#ifndef OWNER_MATCH_H
#define OWNER_MATCH_H

#include "groups_parts.h"

/* GROUP.KEY, of the arena; NULL: the group does not take the pod. */
const char *group_key_of(
	const struct group *g, const struct pod *pod, const struct owner_top *top, struct arena *a);

#endif
