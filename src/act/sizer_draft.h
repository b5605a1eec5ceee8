/* What the sizer writes: GPURecommendations and GPUUsageCheckpoints. */
#ifndef ACT_SIZER_DRAFT_H
#define ACT_SIZER_DRAFT_H

#include "draft.h"

MUST_CHECK int create_recommendation_draft(
	const struct action *x, struct draft *d, struct fault *ret_fault);
MUST_CHECK int recommendation_status_draft(
	const struct action *x, struct draft *d, struct fault *ret_fault);
MUST_CHECK int delete_recommendation_draft(
	const struct action *x, struct draft *d, struct fault *ret_fault);
MUST_CHECK int checkpoint_draft(const struct action *x, struct draft *d, struct fault *ret_fault);
/* The path of a checkpoint that is there. */
struct kube_path checkpoint_path(const struct action *x);
/* Is the owner to be read before it is made? Where, and what was read. */
bool recommendation_reads_owner(const struct action *x);
struct kube_path recommendation_owner_path(const struct action *x, struct arena *a);
MUST_CHECK int recommendation_owner_read(struct action *x, const struct kube_answer *answer,
	struct arena *a, struct fault *ret_fault);

#endif
