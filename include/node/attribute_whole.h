/* Which pod of whole GPUs holds which device. */
#ifndef NODE_ATTRIBUTE_WHOLE_H
#define NODE_ATTRIBUTE_WHOLE_H

#include "node/attribute.h"

struct work;

/* After each look: which pods of whole devices were seen where, so that one that lets go of its
 * device for a while is idle there and not forgotten. */
void usage_remember(
	const struct usage *usage, const struct gpu_sample *sample, struct node_pods *pods);
/* After the processes were added: which pod of whole devices holds which, where that can be known.
 * The kubelet tells it, if it is asked. Else a pod keeps a device on which it was seen, and the
 * last one without is where else nobody can be. */
void whole_add(struct work *w);

#endif
