/* Files, the termination message and signals, as all commands of the capacity pod have them. */
#ifndef NODE_CAPACITY_COMMON_H
#define NODE_CAPACITY_COMMON_H

#include <stdbool.h>

#include "base/str.h"
#include "model/gpu.h"
#include "node/capacity.h"

/* The signals that ask for the end, SIG_BLOCK or SIG_UNBLOCK: as process 1 of a container we get
 * none that we neither handle nor wait for. */
void capacity_mask_signals(int how);
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

/* Compute mode DEFAULT, for a GPU that is shared without MPS must let more than one process in: set
 * where it is another one and we may. FAULT_DENIED, whose message begins with ComputeMode: it is
 * another one and stays so. A driver that does not tell the mode is no fault. */
MUST_CHECK int capacity_let_all_in(
	const struct capacity_options *options, const char *uuid, struct fault *ret_fault);

#endif
