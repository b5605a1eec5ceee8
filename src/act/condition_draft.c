/* Why a tenant waits, or that it no longer does, and what of its memory is worth knowing: one
 * condition at a time through pods/status (C23). A
 * strategic merge patch touches the condition of our type and leaves the kubelet's and the
 * scheduler's alone. */
#include "act_parts.h"
#include "model/names.h"

int condition_draft(
	const struct action *x, int64_t wall_ms, struct draft *ret_draft, struct fault *ret_fault)
{
	char now[TIME_TEXT_MAX];
	ret_draft->method = WIRE_PATCH;
	ret_draft->path = (struct kube_path){.group_version = "v1",
		.ns = x->ns,
		.resource = "pods",
		.name = x->name,
		.subresource = "status"};
	ret_draft->content_type = KUBE_STRATEGIC_PATCH;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_object_at(&b, "metadata");
	if (!text_empty(x->uid)) {
		build_text_at(&b, "uid", x->uid);
	}
	build_end(&b);
	build_object_at(&b, "status");
	build_array_at(&b, "conditions");
	build_begin_object(&b);
	build_text_at(&b, "type", text_or(x->condition, NAME_PLACED));
	build_text_at(&b, "status", x->is_true ? "True" : "False");
	build_text_at(&b, "reason", reason_name(x->reason));
	build_text_at(&b, "message", text_or(x->message, ""));
	build_text_at(&b, "lastTransitionTime", time_format(wall_ms, now));
	for (int i = 0; i < 4; i++) {
		build_end(&b);
	}
	return draft_end(&b, ret_draft, ret_fault);
}
