/* A GPU that is shared without MPS must let more than one process in. */
#ifndef NODE_CAPACITY_MODE_H
#define NODE_CAPACITY_MODE_H

#include "node/capacity.h"

/* Compute mode DEFAULT, set where it is another one and we may. FAULT_DENIED, whose message begins
 * with ComputeMode: it is another one and stays so. A driver that does not tell the mode is no
 * fault. */
MUST_CHECK int capacity_let_all_in(
	const struct capacity_options *options, const char *uuid, struct fault *ret_fault);

#endif
