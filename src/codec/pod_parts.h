/* A pod is decoded in ten files: pod_decode.c (metadata, spec), pod_bounds.c, pod_placing.c,
 * pod_neighbour.c, pod_container.c, pod_need.c, pod_status.c, pod_oom.c, pod_resources.c,
 * pod_door.c. */
#ifndef CODEC_POD_PARTS_H
#define CODEC_POD_PARTS_H

#include "codec/pod_decode.h"
#include "parts.h"

/* spec.initContainers, spec.containers, spec.overhead: the list and what the scheduler counts. */
MUST_CHECK int pod_containers_decode(const json_t *spec, bool admission, struct arena *arena,
	struct pod *pod, struct fault *ret_fault);
/* spec: gates, nodeSelector, node affinity, tolerations; none of them where too_complex. */
MUST_CHECK int pod_placing_decode(const json_t *spec, bool admission, struct arena *arena,
	struct pod *pod, struct fault *ret_fault);
/* spec: required affinity and anti-affinity, hard topology spread; after the labels. What of them
 * is not read sets has_pod_affinity or has_spread. */
MUST_CHECK int pod_neighbours_decode(
	const json_t *spec, struct arena *arena, struct pod *pod, struct fault *ret_fault);
/* Does any term of it, required or preferred, speak of other namespaces? */
bool pod_crosses_namespaces(const json_t *spec);
/* How a container ended (NULL: it has not): whether a GPU had no memory left for it. What says so
 * in the wrong type says nothing. */
void pod_oom_note(const json_t *terminated, struct pod *pod);
/* The same: when it ended with an error. */
void pod_oom_failed(const json_t *terminated, struct pod *pod);

/* At last: leaves out what is more of it than is kept. */
void pod_bound(struct arena *arena, struct pod *pod);

struct basics {
	int64_t cpu_milli;
	int64_t mem_bytes;
};
/* cpu and memory of a resource list; what it does not name stays. NULL: nothing named. */
MUST_CHECK int basics_read(const json_t *list, struct basics *basics, struct fault *ret_fault);
/* All that has no field of its own, over what `others` has already. False: more than
 * EXTRA_AMOUNTS_MAX, the rest was left out. */
bool others_read(const json_t *list, struct arena *arena, struct amounts *others);
/* The sums over the containers, which were read before: cpu_milli, mem_bytes, gpus, amounts. */
MUST_CHECK int pod_need_decode(
	const json_t *spec, struct arena *arena, struct pod *pod, struct fault *ret_fault);
/* The host ports of a container that runs as long as the pod does. */
MUST_CHECK int pod_ports_decode(
	const json_t *container, struct arena *arena, struct pod *pod, struct fault *ret_fault);

/* Of an agent: address and port; neither where it cannot be called. */
void pod_door_decode(const json_t *root, struct arena *arena, struct pod *pod);

/* What of a container, a toleration and the status is kept, and, of the first two, read alike
 * whoever asks. */
extern const struct shape pod_container_shape, pod_toleration_shape, pod_status_shape;

#endif
