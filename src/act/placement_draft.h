/* The one patch that places a tenant: what it was granted, where, and the gate off, on condition
 * that the pod is the one that was judged (C19). */
#ifndef ACT_PLACEMENT_DRAFT_H
#define ACT_PLACEMENT_DRAFT_H

#include "draft.h"

MUST_CHECK int place_draft(const struct action *x, struct draft *d, struct fault *ret_fault);
/* Tells a tenant that runs another share. */
MUST_CHECK int resize_draft(const struct action *x, struct draft *d, struct fault *ret_fault);

#endif
