/* The one patch that places a tenant: what it was granted, where, and the gate off, on condition
 * that the pod is the one that was judged (C19). */
#ifndef ACT_PLACEMENT_DRAFT_H
#define ACT_PLACEMENT_DRAFT_H

#include "draft.h"

/* `live` is the tenant as it was just read, needed where its own affinity has terms; else NULL.
 * `term` 0: none is written. */
MUST_CHECK int place_draft(const struct action *x, const json_t *live, int64_t term,
	struct draft *ret_draft, struct fault *ret_fault);
/* Tells a tenant that runs another share. */
MUST_CHECK int resize_draft(const struct action *x, int64_t wall_ms, int64_t term,
	struct draft *ret_draft, struct fault *ret_fault);

#endif
