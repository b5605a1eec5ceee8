/* The write of an action, whichever kind it is. */
#ifndef ACT_ACTION_DRAFT_H
#define ACT_ACTION_DRAFT_H

#include "draft.h"

/* A fault is told as the action's outcome. */
MUST_CHECK int action_draft(const struct action *x, struct draft *d, struct fault *ret_fault);

#endif
