/* Conditions: of a tenant, and of a GPUPolicy. Nobody else writes the status of a GPUPolicy, so a
 * merge patch may replace its list of conditions. */
#include "status_draft.h"

#include "codec/condition.h"
#include "model/names.h"

/* Why a tenant waits, or that it no longer does, and what of its memory is worth knowing: one
 * condition at a time through pods/status (C23). A
 * strategic merge patch touches the condition of our type and leaves the kubelet's and the
 * scheduler's alone. */
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

static const char *ready_reason(const struct action *x)
{
	if (!text_empty(x->event_reason)) {
		return x->event_reason;
	}
	if (x->reason != REASON_NONE) {
		return reason_name(x->reason);
	}
	return x->is_true ? "Ready" : "NotReady";
}

int policy_status_draft(
	const struct action *x, int64_t wall_ms, struct draft *ret_draft, struct fault *ret_fault)
{
	const struct condition conditions[] = {
		{"Accepted", "True", "Accepted", "The policy can be used as written.",
			x->accepted_ms, x->generation},
		{"Overlapping", x->overlapping ? "True" : "False",
			x->overlapping ? "SamePriority" : "NoOverlap",
			x->overlapping
				? "Another policy of the same priority matches some of the same "
				  "pods."
				: "No other policy of the same priority matches the same pods.",
			x->overlapping_ms, x->generation},
		{"Ready", x->is_true ? "True" : "False", ready_reason(x), text_or(x->message, ""),
			x->ready_ms, x->generation},
	};
	ret_draft->method = WIRE_PATCH;
	ret_draft->path = (struct kube_path){.group_version = NAME_GROUP "/" NAME_VERSION,
		.resource = "gpupolicies",
		.name = x->name,
		.subresource = "status"};
	ret_draft->content_type = KUBE_MERGE_PATCH;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	draft_metadata(&b, x);
	build_end(&b);
	build_object_at(&b, "status");
	build_i64_at(&b, "observedGeneration", x->generation);
	build_i64_at(&b, "matchedWorkloads", x->matched);
	build_i64_at(&b, "automatedWorkloads", x->automated);
	build_array_at(&b, "conditions");
	for (size_t i = 0; i < COUNT_OF(conditions); i++) {
		struct condition c = conditions[i];
		c.since_ms = c.since_ms > 0 ? c.since_ms : wall_ms;
		condition_write(&b, &c);
	}
	build_end(&b);
	build_end(&b);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}
