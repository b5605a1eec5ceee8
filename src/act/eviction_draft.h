/* A tenant is taken down by the Eviction API alone, so that its disruption budgets count (I5). */
#ifndef ACT_EVICTION_DRAFT_H
#define ACT_EVICTION_DRAFT_H

#include "draft.h"

MUST_CHECK int evict_draft(const struct action *x, struct draft *d, struct fault *ret_fault);

#endif
