/* A tenant is taken down by the Eviction API alone, so that its disruption budgets count (I5). The
 * uid always goes along: whoever has the name by now is not meant. A version only where the reason
 * depends on what the pod is like: a running pod's changes with every word of its kubelet. How long
 * it takes to end is the pod's own business: no grace is set. */
#include "eviction_draft.h"

int evict_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	if (text_empty(x->ns) || text_empty(x->name) || text_empty(x->uid)) {
		return fault_set(ret_fault, FAULT_INVALID, "an eviction needs the pod's uid");
	}
	ret_draft->method = WIRE_POST;
	ret_draft->path = (struct kube_path){.group_version = "v1",
		.ns = x->ns,
		.resource = "pods",
		.name = x->name,
		.subresource = "eviction"};
	ret_draft->content_type = KUBE_JSON;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "policy/v1");
	build_text_at(&b, "kind", "Eviction");
	build_object_at(&b, "metadata");
	build_text_at(&b, "name", x->name);
	build_text_at(&b, "namespace", x->ns);
	build_end(&b);
	build_object_at(&b, "deleteOptions");
	build_object_at(&b, "preconditions");
	build_text_at(&b, "uid", x->uid);
	if (!text_empty(x->resource_version)) {
		build_text_at(&b, "resourceVersion", x->resource_version);
	}
	for (int i = 0; i < 3; i++) {
		build_end(&b);
	}
	return draft_end(&b, ret_draft, ret_fault);
}
