/* Which kind of action becomes which write. */
#include "action_draft.h"

#include "base/alloc.h"
#include "capacity_draft.h"
#include "eviction_draft.h"
#include "grant_draft.h"
#include "placement_draft.h"
#include "probe_draft.h"
#include "sizer_draft.h"
#include "status_draft.h"
#include "surge_draft.h"

static int create_pod_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	return x->claim != NULL ? probe_draft(x, d, ret_fault)
	       : x->companion	? companion_draft(x, d, ret_fault)
				: create_capacity_draft(x, d, ret_fault);
}

int action_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	static int (*const drafts[ACTION_EVENT + 1])(
		const struct action *x, struct draft *d, struct fault *ret_fault) = {
		[ACTION_CREATE_CAPACITY] = create_pod_draft,
		[ACTION_DELETE_CAPACITY] = delete_capacity_draft,
		[ACTION_GRANT] = grant_draft,
		[ACTION_PLACE] = place_draft,
		[ACTION_RESIZE] = resize_draft,
		[ACTION_CONDITION] = condition_draft,
		[ACTION_POLICY_STATUS] = policy_status_draft,
		[ACTION_EVICT] = evict_draft,
		[ACTION_CREATE_RECOMMENDATION] = create_recommendation_draft,
		[ACTION_RECOMMENDATION_STATUS] = recommendation_status_draft,
		[ACTION_DELETE_RECOMMENDATION] = delete_recommendation_draft,
		[ACTION_CHECKPOINT] = checkpoint_draft,
		[ACTION_SURGE] = surge_draft,
	};
	ENSURE(drafts[x->type] != NULL);
	return drafts[x->type](x, d, ret_fault);
}
