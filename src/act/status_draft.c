/* Conditions: of a tenant, and of a GPUPolicy. Nobody else writes the status of a GPUPolicy, so a
 * merge patch may replace its list of conditions. */
#include "status_draft.h"

#include "codec/condition.h"
#include "model/names.h"

/* Why a tenant waits, or that it no longer does, and what of its memory is worth knowing: one
 * condition at a time through pods/status (C23). A
 * strategic merge patch touches the condition of our type and leaves the kubelet's and the
 * scheduler's alone. */
int condition_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	char now[TIME_TEXT_MAX];
	const struct kube_path path = draft_pod_path(x, "status");
	struct build b = draft_begin(d, WIRE_PATCH, KUBE_STRATEGIC_PATCH, &path);
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
	build_text_at(&b, "lastTransitionTime", time_format(d->wall_ms, now));
	return draft_end(&b, ret_fault);
}

int policy_status_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	const char *ready = !text_empty(x->event_reason) ? x->event_reason
			    : x->reason != REASON_NONE	 ? reason_name(x->reason)
			    : x->is_true		 ? "Ready"
							 : "NotReady";
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
		{"Ready", x->is_true ? "True" : "False", ready, text_or(x->message, ""),
			x->ready_ms, x->generation},
	};
	const struct kube_path path = {.group_version = NAME_GROUP "/" NAME_VERSION,
		.resource = "gpupolicies",
		.name = x->name,
		.subresource = "status"};
	struct build b = draft_begin(d, WIRE_PATCH, KUBE_MERGE_PATCH, &path);
	draft_identity(&b, "metadata", x);
	build_end(&b);
	build_object_at(&b, "status");
	build_i64_at(&b, "observedGeneration", x->generation);
	build_i64_at(&b, "matchedWorkloads", x->matched);
	build_i64_at(&b, "automatedWorkloads", x->automated);
	build_array_at(&b, "conditions");
	for (size_t i = 0; i < COUNT_OF(conditions); i++) {
		struct condition c = conditions[i];
		c.since_ms = c.since_ms > 0 ? c.since_ms : d->wall_ms;
		condition_write(&b, &c);
	}
	return draft_end(&b, ret_fault);
}
