/* What a pod requires of other pods near it. */
#ifndef PODS_POD_NEIGHBOUR_H
#define PODS_POD_NEIGHBOUR_H

#include "json/fields.h"
#include "model/pod.h"

/* spec: required affinity and anti-affinity, hard topology spread; after the labels. What of them
 * is not read sets has_pod_affinity or has_spread. */
MUST_CHECK int pod_neighbours_decode(const struct reading *r, const json_t *spec, struct pod *pod);
/* Does any term of it, required or preferred, speak of other namespaces? */
bool pod_crosses_namespaces(const json_t *spec);

#endif
