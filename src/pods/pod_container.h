/* Containers: what each asks for. */
#ifndef PODS_POD_CONTAINER_H
#define PODS_POD_CONTAINER_H

#include "json/fields.h"
#include "model/pod.h"

/* spec.initContainers, spec.containers, spec.overhead: the list and what the scheduler counts. */
MUST_CHECK int pod_containers_decode(
	const struct reading *r, const json_t *spec, bool admission, struct pod *pod);

extern const struct shape pod_container_shape;

#endif
