/* Patches: JSON merge patch (RFC 7386), and the one list of pods/status that a strategic patch
 * merges by its key. */
#ifndef SIM_PATCH_H
#define SIM_PATCH_H
#include "sim_parts.h"

/* Both change `target` in place. */
void patch_merge(json_t *target, const json_t *patch);
void patch_conditions(json_t *target, const json_t *patch); /* strategic, of pods/status */
json_t *pod_condition_new(const char *type, bool is_true, const char *reason);

/* Its condition Ready, from now on. */
json_t *pod_ready_new(const struct sim *s, bool ready);

#endif
