/* The compare-and-swap: the whole new ledger of one capacity pod, on condition that nobody changed
 * the pod since. */
#ifndef ACT_GRANT_DRAFT_H
#define ACT_GRANT_DRAFT_H

#include "draft.h"

MUST_CHECK int grant_draft(const struct action *x, struct draft *d, struct fault *ret_fault);

#endif
