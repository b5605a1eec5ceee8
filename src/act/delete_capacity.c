/* A capacity pod goes only as we saw it: whoever was granted a share on it meanwhile has changed
 * its version. Of a companion only the uid counts: nothing is written on it. */
#include "act_parts.h"

#define GRACE_S 10

int delete_capacity_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	bool versioned = !text_empty(x->resource_version);
	if (text_empty(x->uid) || (!versioned && !x->companion)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a delete needs uid and resourceVersion");
	}
	ret_draft->method = WIRE_DELETE;
	ret_draft->path = (struct kube_path){
		.group_version = "v1", .ns = x->ns, .resource = "pods", .name = x->name};
	ret_draft->content_type = KUBE_JSON;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "DeleteOptions");
	build_i64_at(&b, "gracePeriodSeconds", GRACE_S);
	build_object_at(&b, "preconditions");
	build_text_at(&b, "uid", x->uid);
	if (versioned) {
		build_text_at(&b, "resourceVersion", x->resource_version);
	}
	build_end(&b);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}
