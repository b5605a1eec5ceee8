/* The tasks of a surge (C24, C25): what roll/surge.h says next, word for word. All writes are
 * about pods; the ReplicaSet and its owner are read and never written. */
#ifndef ACT_SURGE_DRAFT_H
#define ACT_SURGE_DRAFT_H

#include "draft.h"

/* The new pod, made of the ReplicaSet as it was just read, which must be the one of the order. */
MUST_CHECK int surge_create_draft(
	const struct action *x, const json_t *set, struct draft *d, struct fault *ret_fault);
/* The other writes. The action names the pod as it was judged: none goes out without its uid and
 * its version. */
MUST_CHECK int surge_draft(const struct action *x, struct draft *d, struct fault *ret_fault);

#endif
