/* What an answer says of a tenant, or of the object that a write was meant for. */
#include "act_parts.h"
#include "base/alloc.h"
#include "codec/pod_decode.h"
#include "model/names.h"

bool confirm_waits(const struct kube_answer *answer, const char *uid, struct fault *ret_fault)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod live;
	if (answer->fault.kind == FAULT_NOT_FOUND) {
		return true;
	}
	*ret_fault = answer->fault;
	if (answer->fault.kind != FAULT_NONE ||
		pod_decode(answer->body, answer->body_size, &arena, &live, ret_fault) != 0) {
		return false;
	}
	/* Another one of that name: who was meant is gone. */
	if (!text_equals(live.uid, uid) || pod_has_gate(&live, NAME_GATE)) {
		return true;
	}
	fault_set(ret_fault, FAULT_CONFLICT, "%s/%s has been told its GPUs", live.ns, live.name);
	return false;
}

void confirm_uid(const struct action *x, struct fault *f)
{
	bool about_uid = strstr(f->message, "metadata.uid") != NULL &&
			 strstr(f->message, "immutable") != NULL;
	if (f->kind == FAULT_INVALID && !text_empty(x->uid) && about_uid) {
		f->kind = FAULT_CONFLICT;
	}
}
