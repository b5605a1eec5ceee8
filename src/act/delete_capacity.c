/* A capacity pod goes only as we saw it: whoever was granted a share on it meanwhile has changed
 * its version. Of a companion only the uid counts: nothing is written on it. */
#include "act_parts.h"

#define GRACE_S 10
/* Of one that waits for nobody any more; under MPS its daemon is ended first. */
#define AGAIN_S	    1
#define AGAIN_MPS_S 15

int delete_capacity_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	bool versioned = !text_empty(x->resource_version);
	if (text_empty(x->uid) || (!versioned && !x->companion)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a delete needs uid and resourceVersion");
	}
	const struct kube_path path = {
		.group_version = "v1", .ns = x->ns, .resource = "pods", .name = x->name};
	int64_t grace_s = !x->again ? GRACE_S : x->mps ? AGAIN_MPS_S : AGAIN_S;
	return draft_delete(x, &path, grace_s, ret_draft, ret_fault);
}
