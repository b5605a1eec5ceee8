/* A probe (C26): it asks for no device, names the GPU of its capacity pod in one of the forms, and
 * tells by its last word what it sees. */
#ifndef ACT_PROBE_DRAFT_H
#define ACT_PROBE_DRAFT_H

#include "draft.h"

/* What tries how the node of a capacity pod gives GPUs (C26). */
MUST_CHECK int probe_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault);

#endif
