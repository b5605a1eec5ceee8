/* Volumes and mounts of the container that had the GPUs. */
#ifndef PODS_TENANT_MOUNTS_H
#define PODS_TENANT_MOUNTS_H

#include <jansson.h>
#include <stdbool.h>

#include "model/mutation.h"

/* Adds them, and to `original` what it takes to go back. False: no name is free, or a path is
 * mounted twice. */
bool mounts_add(json_t *spec, json_t *container, const struct mutation *m, json_t *original);
/* Takes away what was added, from the container and the spec, both the caller's own. False: the
 * `original` of some other pod. */
bool mounts_restore(json_t *container, const json_t *original);
void volumes_restore(json_t *spec, const json_t *original);

#endif
