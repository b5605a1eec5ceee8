/* A companion asks for a node in the place of tenants (C14): for the GPUs, CPU and memory that they
 * and their capacity pods will need. */
#ifndef ACT_COMPANION_DRAFT_H
#define ACT_COMPANION_DRAFT_H

#include "draft.h"

/* What stands in for tenants and asks for a node (C14). */
MUST_CHECK int companion_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault);

#endif
