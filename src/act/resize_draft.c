/* A tenant that runs is told that it has another share: the guarded keys with the amounts, on
 * condition that the pod is the one that was judged. It carries the term of the leader that sends
 * it, as a placement does; and the time, so that it makes a new version of the pod whatever it
 * says, after which no earlier one can land. */
#include "act_parts.h"
#include "model/names.h"

int resize_draft(const struct action *x, int64_t wall_ms, int64_t term, struct draft *ret_draft,
	struct fault *ret_fault)
{
	char number[24], when[TIME_TEXT_MAX];
	if (text_empty(x->uid) || text_empty(x->resource_version)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a resize needs uid and resourceVersion");
	}
	struct build b = draft_patch_pod(x, ret_draft);
	build_object_at(&b, "annotations");
	snprintf(number, sizeof number, "%lld", (long long)x->milli);
	build_text_at(&b, NOTE_COMPUTE_MILLI, number);
	snprintf(number, sizeof number, "%lld", (long long)x->mem_mib);
	build_text_at(&b, NOTE_MEMORY_MIB, number);
	build_text_at(&b, NOTE_RESIZED, time_format_micro(wall_ms, when));
	if (term > 0) {
		snprintf(number, sizeof number, "%lld", (long long)term);
		build_text_at(&b, NOTE_TERM, number);
	}
	if (x->policy != NULL) {
		build_text_at(&b, NOTE_POLICY_APPLIED, x->policy);
	}
	for (int i = 0; i < 3; i++) {
		build_end(&b);
	}
	return draft_end(&b, ret_draft, ret_fault);
}
