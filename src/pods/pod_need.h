/* What a pod as a whole takes of its node. */
#ifndef PODS_POD_NEED_H
#define PODS_POD_NEED_H

#include "json/fields.h"
#include "model/pod.h"

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
MUST_CHECK int pod_need_decode(const struct reading *r, const json_t *spec, struct pod *pod);
/* The host ports of a container that runs as long as the pod does. */
MUST_CHECK int pod_ports_decode(const struct reading *r, const json_t *container, struct pod *pod);

#endif
