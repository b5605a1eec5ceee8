/* Pods: JSON to struct pod. What is read of one is read by pod_decode.c (metadata, spec) and the
 * files whose names begin with pod_. All text lives in the arena given; the JSON may go at once.
 *
 * Sums over containers, terms about other pods and how a container ended have functions instead of
 * rows: they are worked out from many members, under bounds of their own.
 *
 * FAULT_INVALID names the path of what has the wrong type or is a quantity that cannot be parsed.
 */
#ifndef PODS_POD_DECODE_H
#define PODS_POD_DECODE_H

#include <jansson.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "model/pod.h"

struct shape;
/* struct pod, as a watch has it. */
extern const struct shape pod_shape;

/* From a watch, a list or an answer. */
MUST_CHECK int pod_decode(const char *json, size_t n, struct arena *arena, struct pod *ret_pod,
	struct fault *ret_fault);
/* From a value, with the fields that only admission reads: image, env, args, privileged, the state
 * of NVIDIA_VISIBLE_DEVICES (the last duplicate wins, as in the container). */
MUST_CHECK int pod_review(
	const json_t *root, struct arena *arena, struct pod *ret_pod, struct fault *ret_fault);

#endif
