/* A probe (C26): it asks for no device, names the GPU of its capacity pod in one of the forms, and
 * tells by its last word what it sees. It is made as the capacity pod is, under the RuntimeClass of
 * that one and on its node, belongs to it, and is as small as a pod can be: it takes no room that
 * anybody would have to keep. */
#include "probe_draft.h"

#include "act/restricted.h"
#include "own/injection_text.h"
#include "make.h"
#include "model/names.h"
#include "model/uids.h"

#define GRACE_S	   1
#define DEADLINE_S 60

static bool probe_notes(struct build *b, const struct action *x)
{
	CLEANUP(str_finish) struct str claim = STR_INIT(INJECTION_TEXT_MAX);
	CLEANUP(str_finish) struct str name = STR_INIT(INJECTION_TEXT_MAX);
	if (!inject_claim_write(&claim, x->claim)) {
		return false;
	}
	make_notes(b, x);
	build_text_at(b, NOTE_INJECTION, str_text(&claim));
	if (inject_write_note(&name, x->claim->form, x->claim->uuid)) {
		build_text_at(b, NAME_CDI_PREFIX PROBE_CONTAINER, str_text(&name));
	}
	build_end(b);
	return true;
}

static void write_variable(struct build *b, const char *name, const char *value)
{
	build_begin_object(b);
	build_text_at(b, "name", name);
	build_text_at(b, "value", value);
	build_end(b);
}

static void write_env(struct build *b, const struct action *x)
{
	CLEANUP(str_finish) struct str value = STR_INIT(INJECTION_TEXT_MAX);
	inject_write_value(&value, x->claim->form, x->claim->uuid);
	build_array_at(b, "env");
	write_variable(b, "NVIDIA_VISIBLE_DEVICES", str_text(&value));
	write_variable(b, "NVIDIA_DRIVER_CAPABILITIES", "compute,utility");
	build_end(b);
}

/* Nothing is asked for, that it is admitted where the node is full. */
static void write_amounts(struct build *b)
{
	build_object_at(b, "resources");
	build_object_at(b, "requests");
	build_text_at(b, "cpu", "0");
	build_text_at(b, "memory", "0");
	build_end(b);
	build_object_at(b, "limits");
	build_text_at(b, "cpu", "100m");
	build_text_at(b, "memory", "64Mi");
	build_end(b);
	build_end(b);
}

static void probe_container(struct build *b, const struct act_settings *s, const struct action *x)
{
	build_array_at(b, "containers");
	build_begin_object(b);
	build_text_at(b, "name", PROBE_CONTAINER);
	make_image(b, s);
	build_array_at(b, "args");
	build_text(b, "capacity");
	build_text(b, "probe");
	build_text(b, "--termination-log=/dev/termination-log");
	build_end(b);
	write_env(b, x);
	write_amounts(b);
	restricted_container(b);
	build_end(b);
	build_end(b);
}

/* Once: what it saw is what there is to know. Whatever is wrong with the node, it ends by itself.
 */
static void probe_spec(struct build *b, const struct act_settings *s, const struct action *x)
{
	make_spec(b, "Never", NAME_CAPACITY, GRACE_S, UID_PROBE);
	build_i64_at(b, "activeDeadlineSeconds", DEADLINE_S);
	if (!text_empty(x->runtime_class)) {
		build_text_at(b, "runtimeClassName", x->runtime_class);
	}
	build_array_at(b, "tolerations");
	for (uint32_t i = 0; i < x->toleration_count; i++) {
		make_toleration(b, &x->tolerations[i]);
	}
	build_end(b);
	make_pin(b, x->node);
	probe_container(b, s, x);
	build_end(b);
}

int probe_draft(const struct act_settings *s, const struct action *x, struct draft *ret_draft,
	struct fault *ret_fault)
{
	struct build b = build_into(&ret_draft->body);
	if (text_empty(x->uid) || text_empty(x->capacity_pod) || text_empty(x->node)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "a probe needs a capacity pod and its node");
	}
	if (make_pod(s, x, ret_draft, &b, ret_fault) < 0) {
		return -1;
	}
	if (!probe_notes(&b, x)) {
		return fault_set(ret_fault, FAULT_LIMIT, "what is tried is too long to be written");
	}
	make_labels(&b, NAME_PROBE);
	build_text_at(&b, LABEL_PROBE, inject_form_name(x->claim->form));
	make_owner(&b, "Pod", x->capacity_pod, x->uid);
	probe_spec(&b, s, x);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}
