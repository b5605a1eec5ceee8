/* A container that is added to a running tenant. */
#ifndef PODS_TENANT_DEBUG_H
#define PODS_TENANT_DEBUG_H

#include <jansson.h>
#include <stdbool.h>

/* Does it carry the label of a tenant? */
bool tenant_is(const json_t *object);
/* The tenant with no GPU in those of its ephemeral containers that `old` has not: a new reference
 * that shares the rest. `ret_overridden` is set to the name (of `object`, or NULL for none) of the
 * last one whose own choice of devices went, else untouched. */
json_t *tenant_debug(json_t *object, const json_t *old, const char **ret_overridden);

#endif
