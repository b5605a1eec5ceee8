/* To which workload a pod belongs. */
#ifndef TRACKING_POD_OWNER_H
#define TRACKING_POD_OWNER_H

#include "tracking/tracking.h"

struct world_pod;

/* The pod, given to its workload; NULL: it has none. `ret_alone`: nobody controls it, and no group
 * takes it. */
struct sized_pod *pods_assigned(struct tracking *s, const struct world_pod *wp, bool *ret_alone);
/* The workload of a pod that ended, and is in the table no more; NULL: nobody knows. `ret_advised`:
 * its share was recommended. */
struct sized_workload *pods_workload(
	struct tracking *s, const struct world_pod *wp, bool *ret_advised);

#endif
