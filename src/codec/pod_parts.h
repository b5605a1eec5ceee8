/* A pod is decoded in four files: pod.c (metadata, spec), pod_placing.c, pod_container.c,
 * pod_status.c. */
#ifndef CODEC_POD_PARTS_H
#define CODEC_POD_PARTS_H

#include "codec/pod.h"
#include "parts.h"

/* spec.initContainers, spec.containers, spec.overhead: the list and what the scheduler counts. */
MUST_CHECK int pod_containers_decode(const json_t *spec, bool admission, struct arena *arena,
	struct pod *pod, struct fault *ret_fault);
/* spec: gates, nodeSelector, node affinity, tolerations; none of them where too_complex. */
MUST_CHECK int pod_placing_decode(const json_t *spec, bool admission, struct arena *arena,
	struct pod *pod, struct fault *ret_fault);
/* status (NULL: none) */
MUST_CHECK int pod_status_decode(
	const json_t *status, struct arena *arena, struct pod *pod, struct fault *ret_fault);

extern const struct slice_keep pod_container_keep[];
extern const struct slice_keep pod_status_keep[];

#endif
