/* A Job, as far as it says what a pod of it counts as that is evicted before it was bound (C21).
 *
 * Seen in Kubernetes 1.36: such a pod is deleted, marked as failed by the pod garbage collector
 * within 20 s, and counts against the Job's backoffLimit whatever its podReplacementPolicy, unless
 * a rule of its podFailurePolicy ignores pods with the condition DisruptionTarget, which an
 * eviction sets. */
#ifndef CODEC_JOB_H
#define CODEC_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fault.h"

/* True: it makes another pod and counts no failure. Where it might count one, false.
 * FAULT_NOT_FOUND where it is not the Job with this uid. */
MUST_CHECK int job_decode(
	const char *json, size_t n, const char *uid, bool *ret_spares, struct fault *ret_fault);

#endif
