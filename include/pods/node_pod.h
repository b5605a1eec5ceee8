/* A pod of the agent's own node, read from the watch: far less of it than the controller reads.
 *
 * What is granted is taken from the keys that only the controller may write (C8), and only with its
 * label; which GPU a capacity pod holds from what its init container told. FAULT_INVALID names the
 * path of what has the wrong type. */
#ifndef PODS_NODE_POD_H
#define PODS_NODE_POD_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/node_pod.h"

/* What a watch keeps. Constant. */
const struct slice_keep *node_pod_projection(void);

/* All text is in the arena. */
MUST_CHECK int node_pod_decode(const char *json, size_t n, struct arena *arena,
	struct node_pod *ret_pod, struct fault *ret_fault);

#endif
