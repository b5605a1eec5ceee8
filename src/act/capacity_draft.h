/* The capacity pod (C9, C10, C15): small, Guaranteed, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. And the companion, which asks for a node in the
 * place of tenants (C14). */
#ifndef ACT_CAPACITY_DRAFT_H
#define ACT_CAPACITY_DRAFT_H

#include "draft.h"

MUST_CHECK int create_capacity_draft(
	const struct action *x, struct draft *d, struct fault *ret_fault);
MUST_CHECK int companion_draft(const struct action *x, struct draft *d, struct fault *ret_fault);
/* The end of either. */
MUST_CHECK int delete_capacity_draft(
	const struct action *x, struct draft *d, struct fault *ret_fault);
/* A pod that was there already under the name of one that we wanted: is it that one? */
bool create_capacity_is_ours(const struct act_settings *s, const struct pod *pod);

#endif
