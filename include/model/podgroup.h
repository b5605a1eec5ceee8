/* A PodGroup of Kubernetes (KEP-5547): pods that the scheduler looks at together. */
#ifndef MODEL_PODGROUP_H
#define MODEL_PODGROUP_H

#include <stdbool.h>

struct pod_group {
	const char *ns, *name;
	/* each of its pods is scheduled by itself, as any other pod; false also where it says
	 * anything that is not understood */
	bool basic;
};

#endif
