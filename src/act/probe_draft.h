/* A probe (C26): it asks for no device, names the GPU of its capacity pod in one of the forms, and
 * tells by its last word what it sees. */
#ifndef ACT_PROBE_DRAFT_H
#define ACT_PROBE_DRAFT_H

#include "draft.h"

MUST_CHECK int probe_draft(const struct action *x, struct draft *d, struct fault *ret_fault);

#endif
