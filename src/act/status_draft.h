/* Conditions: of a tenant, and of a GPUPolicy. */
#ifndef ACT_STATUS_DRAFT_H
#define ACT_STATUS_DRAFT_H

#include "draft.h"

MUST_CHECK int condition_draft(
	const struct action *x, int64_t wall_ms, struct draft *ret_draft, struct fault *ret_fault);
MUST_CHECK int policy_status_draft(
	const struct action *x, int64_t wall_ms, struct draft *ret_draft, struct fault *ret_fault);

#endif
