/* Where a pod may go: gates, nodeSelector, node affinity, tolerations. */
#ifndef PODS_POD_PLACING_H
#define PODS_POD_PLACING_H

#include "json/fields.h"
#include "model/pod.h"

/* spec: gates, nodeSelector, node affinity, tolerations; none of them where too_complex. */
MUST_CHECK int pod_placing_decode(
	const struct reading *r, const json_t *spec, bool admission, struct pod *pod);

extern const struct shape pod_toleration_shape;

#endif
