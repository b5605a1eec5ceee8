/* Holding a GPU under MPS: the daemon is kept beside the looks at the GPU, in one loop. */
#ifndef NODE_CAPACITY_MPS_H
#define NODE_CAPACITY_MPS_H

#include "node/capacity.h"

/* A look at the GPU; a fault ends the hold. */
typedef int (*capacity_check)(void *data, struct fault *ret_fault);

/* Returns 0 when it was asked to stop. A daemon that never became healthy within
 * options->mps_wait_ms is a fault, whose message begins with MpsFailed; a later one is started
 * again. */
MUST_CHECK int capacity_serve_mps(const struct capacity_options *options, const char *uuid,
	capacity_check check, void *data, struct fault *ret_fault);

#endif
