/* Files, the termination message and signals, as all commands of the capacity pod have them. */
#ifndef NODE_CAPACITY_COMMON_H
#define NODE_CAPACITY_COMMON_H

#include <stdbool.h>

#include "base/str.h"
#include "model/gpu.h"
#include "node/capacity.h"

void capacity_block_signals(void);
/* Sleeps; true if we were asked to stop. */
bool capacity_stopped_within(int64_t ms);
MUST_CHECK int capacity_read(const char *path, struct str *text, struct fault *ret_fault);

/* Writes the termination message; a path of NULL: nobody wants one. */
MUST_CHECK int termination_write(const char *path, const struct str *text, struct fault *ret_fault);
void termination_explain(const struct capacity_options *o, const struct fault *why);

/* The identity appears whole or not at all: hold may be started by another kubelet than identify
 * was. */
MUST_CHECK int identity_save(
	const char *path, const struct gpu_identity *identity, struct fault *ret_fault);
MUST_CHECK int identity_load(
	const char *path, struct gpu_identity *ret_identity, struct fault *ret_fault);

#endif
