/* A tenant is taken down by the Eviction API alone, so that its disruption budgets count (I5). The
 * uid always goes along: whoever has the name by now is not meant. A version only where the reason
 * depends on what the pod is like: a running pod's changes with every word of its kubelet. How long
 * it takes to end is the pod's own business: no grace is set. */
#include "eviction_draft.h"

int evict_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	if (text_empty(x->ns) || text_empty(x->name) || text_empty(x->uid)) {
		return fault_set(ret_fault, FAULT_INVALID, "an eviction needs the pod's uid");
	}
	const struct kube_path path = draft_pod_path(x, "eviction");
	struct build b = draft_begin(d, WIRE_POST, KUBE_JSON, &path);
	build_text_at(&b, "apiVersion", "policy/v1");
	build_text_at(&b, "kind", "Eviction");
	build_object_at(&b, "metadata");
	draft_name(&b, x);
	build_end(&b);
	build_object_at(&b, "deleteOptions");
	draft_identity(&b, "preconditions", x);
	return draft_end(&b, ret_fault);
}
