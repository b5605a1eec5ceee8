/* Why the GPUs that are there do not take a share, GPU by GPU, on the nodes that suit its pod: one
 * cause a GPU, the one that is asked first. What nodes have against a pod is in unfit.h. */
#ifndef MODEL_LACK_H
#define MODEL_LACK_H

#include <stdint.h>

enum gpu_lack {
	LACK_MEMORY, /* compute would do; for who asks for memory alone, whatever compute is left */
	LACK_COMPUTE, /* whatever memory is left */
	LACK_TENANTS, /* it has as many as it may */
	LACK_COMPANY, /* C8: with its tenants the pod may not share */
	LACK_HEALTH,
	LACK_USE,  /* told twice, failed, or searched for: nobody goes there */
	LACK_KEPT, /* it would do, and is kept for somebody who comes first */
	LACK_COUNT,
};

struct lack_tally {
	uint32_t by[LACK_COUNT]; /* GPUs */
};

#endif
