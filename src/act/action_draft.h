/* The write of an action, whichever kind it is. */
#ifndef ACT_ACTION_DRAFT_H
#define ACT_ACTION_DRAFT_H

#include "draft.h"

/* When a write is sent, and in which term of the leader; 0: none is written. */
struct draft_stamp {
	int64_t term, wall_ms;
};

/* Fills a draft whose body is empty; a fault is told as the action's outcome. */
MUST_CHECK int action_draft(const struct act_settings *s, const struct action *x,
	const struct draft_stamp *now, struct draft *ret_draft, struct fault *ret_fault);

#endif
