/* A pod's way into a tenancy and back, on JSON values, since only there nothing of the pod is lost:
 * no table knows all members of a pod.
 *
 * `original`, version 1, is all that is needed to go back, as short as possible, for the controller
 * keeps it in memory for every tenant:
 *   {"v":1,"container":"main",
 *    "gpu":{"limits":"1","requests":"1"}           as they were, where they were
 *    "env":[[0,{"name":…}],…]                      what was replaced or dropped, with its position
 *    "added":["NVIDIA_DRIVER_CAPABILITIES"]        rows of rule DEFAULT that the pod had not
 *    "others":{"side":[[0,{"name":…}]]}            the same as env, of the other containers
 *    "toleration":true                             it was added
 *    "runtimeClass":"nvidia"                       it was set
 *    "pin":true}                                   the pod named its node in its affinity by itself
 * Absent members stand for nothing done. Version 2 is of a client of MPS: other rows, and
 *    "volumes":["aliquot-mps","aliquot-mps-shm"]   those that were added, a row of mounts each
 *    "mounts":[[0,{"name":…}],…]}                  what stood at their paths, with its position
 * Version 3 is of a framework that is told its share: its rows, its argument at the end of the
 * command line, and
 *    "framework":"vLLM" */
#ifndef PODS_TENANT_H
#define PODS_TENANT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/mutation.h"

#define TENANT_ORIGINAL_MAX 65536
#define TENANT_NOTES_MAX    (252u << 10) /* of the API server's 256 KiB; the rest is for the grant */

/* The pod as a tenant, sharing likewise; `plain` must have been decoded without a fault. NULL: no
 * such container, an `original` of more than TENANT_ORIGINAL_MAX bytes, or annotations of more than
 * TENANT_NOTES_MAX. */
json_t *tenant_convert(json_t *plain, const struct mutation *m);
/* Copy on write: the member as a copy of its own that may be changed. NULL if it is absent or of
 * another type. */
json_t *own_member(json_t *object, const char *key, json_type type);
json_t *own_member_or_new(json_t *object, const char *key, json_type type);
json_t *own_element(json_t *array, size_t index);
/* Removes a member that became empty. */
void prune_member(json_t *object, const char *key);

/* Would that row have written this element? */
bool env_entry_is(const json_t *entry, const struct env_edit *row);
const char *entry_name(const json_t *entry);
/* Has one of the list this name? The names of all of them, as keys: a new reference. */
bool entries_have(const json_t *list, const char *name);
json_t *entry_names(const json_t *list);
/* Applies the rows to a container that the caller owns. New reference: what was replaced or
 * dropped, [[position, entry], …]. */
json_t *container_edit_env(json_t *container, const struct env_edit *rows, uint32_t count);

/* Is this expression of matchFields a node's name? */
bool pins_a_node(const json_t *expression);
/* Is this our toleration? */
bool tolerates_gpus(const json_t *toleration);

#endif
