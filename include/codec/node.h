/* Nodes: JSON to struct node. Text lives in the arena; FAULT_INVALID names the path. */
#ifndef CODEC_NODE_H
#define CODEC_NODE_H

#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "json/slice.h"
#include "model/node.h"

const struct slice_keep *node_projection(void);
MUST_CHECK int node_decode(const char *json, size_t n, struct arena *arena, struct node *ret_node,
	struct fault *ret_fault);

#endif
