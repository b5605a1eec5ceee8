/* GPUPolicies: JSON to struct policy, defaults as the CRD's. Text lives in the arena.
 *
 * The schema of the CRD guards the door; what comes through all the same and cannot mean anything
 * is FAULT_INVALID with its path. */
#ifndef OWN_GPUPOLICY_H
#define OWN_GPUPOLICY_H

#include "json/fields.h"
#include "model/policy.h"

extern const struct shape policy_shape; /* struct policy */

#endif
