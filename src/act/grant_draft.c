/* The compare-and-swap: the whole new ledger of one capacity pod, on condition that nobody changed
 * the pod since. The same patch sets the label by which the disruption budget finds a pod with a
 * tenant that must not be disrupted, and the annotations that keep autoscalers off as long as a
 * tenant needs it (C15). The ledger carries the leader's term and the action's number, so that no
 * two writes are the same and each gets a version of its own. */
#include "grant_draft.h"

#include <stdio.h>

#include "own/capacity_text.h"
#include "own/injection_text.h"
#include "model/names.h"

int grant_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	char by[48];
	CLEANUP(str_finish) struct str ledger = STR_INIT(LEDGER_TEXT_MAX);
	if (text_empty(x->uid) || text_empty(x->resource_version)) {
		return fault_set(ret_fault, FAULT_INVALID, "a grant needs uid and resourceVersion");
	}
	snprintf(by, sizeof by, "%lld.%llu", (long long)d->term, (unsigned long long)x->id);
	if (!ledger_write(&ledger, &x->ledger, by)) {
		return fault_set(ret_fault, FAULT_LIMIT, "the ledger would be larger than %d KiB",
			LEDGER_TEXT_MAX / 1024);
	}
	CLEANUP(str_finish) struct str claim = STR_INIT(INJECTION_TEXT_MAX);
	if (x->claim != NULL && !inject_claim_write(&claim, x->claim)) {
		return fault_set(
			ret_fault, FAULT_LIMIT, "what is proven is too long to be written");
	}
	struct build b = draft_patch_pod(x, d);
	build_object_at(&b, "labels");
	build_text_at(&b, LABEL_IN_USE,
		x->ledger.count == 0 ? IN_USE_NO
		: x->movable	     ? IN_USE_MOVABLE
				     : IN_USE_HELD);
	build_end(&b);
	build_object_at(&b, "annotations");
	build_text_at(&b, NOTE_GRANTS, str_text(&ledger));
	if (x->claim != NULL) {
		build_text_at(&b, NOTE_INJECTION, str_text(&claim));
	}
	build_text_at(&b, NOTE_SAFE_TO_EVICT, x->keeps_node ? "false" : "true");
	build_text_at(&b, NOTE_DO_NOT_DISRUPT, x->keeps_node ? "true" : NULL);
	return draft_end(&b, ret_fault);
}
