/* A capacity pod goes only as we saw it: whoever was granted a share on it meanwhile has changed
 * its version. Of a companion only the uid counts: nothing is written on it. */
#include "act_parts.h"

/* Nobody is left, whatever its kubelet has written down for it to read: it has nothing to wait for
 * but, under MPS, the end of its daemon. */
#define GRACE_S	    1
#define GRACE_MPS_S 15

int delete_capacity_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	bool versioned = !text_empty(x->resource_version);
	if (text_empty(x->uid) || (!versioned && !x->companion)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a delete needs uid and resourceVersion");
	}
	const struct kube_path path = {
		.group_version = "v1", .ns = x->ns, .resource = "pods", .name = x->name};
	return draft_delete(x, &path, x->mps ? GRACE_MPS_S : GRACE_S, ret_draft, ret_fault);
}
