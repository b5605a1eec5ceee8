/* Conditions: of a tenant, and of a GPUPolicy. */
#ifndef ACT_STATUS_DRAFT_H
#define ACT_STATUS_DRAFT_H

#include "draft.h"

MUST_CHECK int condition_draft(const struct action *x, struct draft *d, struct fault *ret_fault);
MUST_CHECK int policy_status_draft(
	const struct action *x, struct draft *d, struct fault *ret_fault);

#endif
