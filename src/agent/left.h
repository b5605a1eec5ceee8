/* GPUs that are left in a compute mode in which one process at a time may use them: their daemon of
 * MPS was killed with its capacity pod, which sets the mode back when it is asked to end and had no
 * time to. To set it back takes root, which no agent is; so it is told. A GPU counts on which a
 * daemon was kept before (its folder is there) and for which no capacity pod of mode MPS is. What a
 * person has set on GPUs that never had a daemon is that person's affair. Nothing here fails. */
#ifndef AGENT_LEFT_H
#define AGENT_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "gpu/sample.h"
#include "model/gpu.h"
#include "node/node_pods.h"

struct left_gpu {
	char uuid[GPU_UUID_MAX];
	int64_t since;
	bool told, met;
};

struct leftovers {
	VEC_FIELDS(struct left_gpu);
	const char *mps_root; /* borrowed; "": nobody keeps daemons here */
};

/* Of each look. Pods must be those that are there now; a look without them is not to be told. */
void left_look(struct leftovers *l, const struct gpu_sample *sample, const struct node_pods *pods);
/* Why no tenant should come to that GPU, for people; NULL: nothing is left there. */
const char *left_why(const struct leftovers *l, const char *uuid);
uint32_t left_count(const struct leftovers *l);
void left_finish(struct leftovers *l);

#endif
