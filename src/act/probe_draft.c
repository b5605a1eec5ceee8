/* A probe (C26): it asks for no device, names the GPU of its capacity pod in one of the forms, and
 * tells by its last word what it sees. It is made as the capacity pod is, under the RuntimeClass of
 * that one and on its node, belongs to it, and is as small as a pod can be: it takes no room that
 * anybody would have to keep. */
#include "probe_draft.h"

#include "act/restricted.h"
#include "json/fields.h"
#include "own/injection_text.h"
#include "make.h"
#include "model/names.h"
#include "model/uids.h"

#define GRACE_S	   1
#define DEADLINE_S 60

static int write_probe_notes(struct build *b, const struct inject_claim *c, struct fault *ret_fault)
{
	CLEANUP(str_finish) struct str claim = STR_INIT(INJECTION_TEXT_MAX);
	CLEANUP(str_finish) struct str name = STR_INIT(INJECTION_TEXT_MAX);
	if (!inject_claim_write(&claim, c)) {
		return fault_set(ret_fault, FAULT_LIMIT, "what is tried is too long to be written");
	}
	build_text_at(b, NOTE_INJECTION, str_text(&claim));
	if (inject_write_note(&name, c->form, c->uuid)) {
		build_text_at(b, NAME_CDI_PREFIX PROBE_CONTAINER, str_text(&name));
	}
	return 0;
}

int probe_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	struct build b;
	const struct owner owner = {"v1", "Pod", x->capacity_pod, x->uid};
	if (text_empty(x->uid) || text_empty(x->capacity_pod) || text_empty(x->node)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a probe needs a capacity pod and its node");
	}
	if (make_pod(x, &owner, d, &b, ret_fault) < 0 ||
		write_probe_notes(&b, x->claim, ret_fault) < 0) {
		return -1;
	}
	make_labels(&b, NAME_PROBE);
	build_text_at(&b, LABEL_PROBE, inject_form_name(x->claim->form));
	/* Never again: what it saw is what there is to know. Whatever is wrong with the node, it
	 * ends by itself. */
	make_spec(&b, "Never", NAME_CAPACITY, GRACE_S, UID_PROBE);
	build_i64_at(&b, "activeDeadlineSeconds", DEADLINE_S);
	make_runtime(&b, x, (const struct toleration *const[]){NULL});
	make_pin(&b, x->node);
	CLEANUP(str_finish) struct str devices = STR_INIT(INJECTION_TEXT_MAX);
	inject_write_value(&devices, x->claim->form, x->claim->uuid);
	build_array_at(&b, "containers");
	make_container(&b, d, PROBE_CONTAINER,
		WORDS("capacity", "probe", "--termination-log=/dev/termination-log"));
	build_array_at(&b, "env");
	make_variable(&b, "NVIDIA_VISIBLE_DEVICES", str_text(&devices));
	make_variable(&b, "NVIDIA_DRIVER_CAPABILITIES", "compute,utility");
	build_end(&b);
	/* Nothing is asked for, that it is admitted where the node is full. */
	build_object_at(&b, "resources");
	restricted_amounts(&b, "requests", "0", "0", NULL);
	restricted_amounts(&b, "limits", "100m", "64Mi", NULL);
	build_end(&b);
	restricted_container(&b);
	return draft_end(&b, ret_fault);
}
