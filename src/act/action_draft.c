/* Which kind of action becomes which write. */
#include "action_draft.h"

#include "capacity_draft.h"
#include "companion_draft.h"
#include "eviction_draft.h"
#include "grant_draft.h"
#include "placement_draft.h"
#include "probe_draft.h"
#include "sizer_draft.h"
#include "status_draft.h"
#include "surge_draft.h"

static int create_pod_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault)
{
	if (x->claim != NULL) {
		return probe_draft(s, x, ret_draft, ret_fault);
	}
	return x->companion ? companion_draft(s, x, ret_draft, ret_fault)
			    : create_capacity_draft(s, x, ret_draft, ret_fault);
}

int action_draft(const struct act_settings *s, const struct action *x,
	const struct draft_stamp *now, struct draft *ret_draft, struct fault *ret_fault)
{
	switch (x->type) {
	case ACTION_CREATE_CAPACITY:
		return create_pod_draft(s, x, ret_draft, ret_fault);
	case ACTION_DELETE_CAPACITY:
		return delete_capacity_draft(x, ret_draft, ret_fault);
	case ACTION_GRANT:
		return grant_draft(x, now->term, ret_draft, ret_fault);
	case ACTION_PLACE:
		return place_draft(x, NULL, now->term, ret_draft, ret_fault);
	case ACTION_RESIZE:
		return resize_draft(x, now->wall_ms, now->term, ret_draft, ret_fault);
	case ACTION_CONDITION:
		return condition_draft(x, now->wall_ms, ret_draft, ret_fault);
	case ACTION_POLICY_STATUS:
		return policy_status_draft(x, now->wall_ms, ret_draft, ret_fault);
	case ACTION_EVICT:
		return evict_draft(x, ret_draft, ret_fault);
	case ACTION_CREATE_RECOMMENDATION:
		return create_recommendation_draft(x, ret_draft, ret_fault);
	case ACTION_RECOMMENDATION_STATUS:
		return recommendation_status_draft(x, ret_draft, ret_fault);
	case ACTION_DELETE_RECOMMENDATION:
		return delete_recommendation_draft(x, ret_draft, ret_fault);
	case ACTION_CHECKPOINT:
		return checkpoint_draft(x, ret_draft, ret_fault);
	case ACTION_SURGE:
		return surge_draft(x, ret_draft, ret_fault);
	case ACTION_READ_JOB:
	case ACTION_READ_OWNER:
	case ACTION_EVENT:
		break;
	}
	BUG("an action that is no write");
}
