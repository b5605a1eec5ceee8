/* Where a pod answers. */
#ifndef PODS_POD_DOOR_H
#define PODS_POD_DOOR_H

#include "json/fields.h"
#include "model/pod.h"

/* Of an agent: address and port; neither where it cannot be called. */
void pod_door_decode(const json_t *root, struct arena *arena, struct pod *pod);

#endif
