/* The capacity pod (C9, C10, C15): small, Guaranteed, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. Its init container tells which GPU the device
 * plugin gave, its main container holds it. */
#include "act_parts.h"
#include "model/names.h"

#define IDENTITY_DIR  "/run/aliquot"
#define IDENTITY_FILE IDENTITY_DIR "/identity"
#define VOLUME	      "identity"
#define GRACE_S	      10

static void write_labels(struct build *b, const struct action *x)
{
	build_text_at(b, LABEL_CAPACITY, "true");
	build_text_at(b, LABEL_IN_USE, "false");
	if (x->unpinned) {
		build_text_at(b, LABEL_PAIR, x->name);
	}
}

static void write_metadata(struct build *b, const struct act_settings *s, const struct action *x)
{
	make_metadata(b, x, NAME_CAPACITY);
	write_labels(b, x);
	make_owner(b, "ConfigMap", make_owner_name(s), s->owner_uid);
}

static void write_amounts(struct build *b, const char *key)
{
	build_object_at(b, key);
	build_text_at(b, "cpu", "10m");
	build_text_at(b, "memory", "32Mi");
	build_text_at(b, NAME_GPU_RESOURCE, "1");
	build_end(b);
}

static void write_container_surroundings(struct build *b, bool init)
{
	/* NVML is all that is needed of the driver. */
	build_array_at(b, "env");
	build_begin_object(b);
	build_text_at(b, "name", "NVIDIA_DRIVER_CAPABILITIES");
	build_text_at(b, "value", "utility");
	build_end(b);
	build_end(b);
	build_object_at(b, "resources");
	write_amounts(b, "requests");
	write_amounts(b, "limits");
	build_end(b);
	build_array_at(b, "volumeMounts");
	build_begin_object(b);
	build_text_at(b, "name", VOLUME);
	build_text_at(b, "mountPath", IDENTITY_DIR);
	if (!init) {
		build_bool_at(b, "readOnly", true);
	}
	build_end(b);
	build_end(b);
	make_container_security(b);
}

static void write_container(struct build *b, const struct act_settings *s, bool init)
{
	build_begin_object(b);
	build_text_at(b, "name", init ? CAPACITY_INIT_CONTAINER : CAPACITY_MAIN_CONTAINER);
	make_image(b, s);
	build_array_at(b, "args");
	build_text(b, "capacity");
	build_text(b, init ? "identify" : "hold");
	build_text(b, "--identity-file=" IDENTITY_FILE);
	if (init) {
		build_text(b, "--termination-log=/dev/termination-log");
	}
	build_end(b);
	write_container_surroundings(b, init);
	build_end(b);
}

static void write_containers(struct build *b, const struct act_settings *s)
{
	build_array_at(b, "initContainers");
	write_container(b, s, true);
	build_end(b);
	build_array_at(b, "containers");
	write_container(b, s, false);
	build_end(b);
	build_array_at(b, "volumes");
	build_begin_object(b);
	build_text_at(b, "name", VOLUME);
	build_object_at(b, "emptyDir");
	build_text_at(b, "medium", "Memory");
	build_text_at(b, "sizeLimit", "1Mi");
	build_end(b);
	build_end(b);
	build_end(b);
}

/* One that is pinned is there because a tenant goes to that node or runs there, and leaves after
 * the last. Each of them tolerates something else, those that come later too, and no toleration can
 * be counted on to be added later: so no taint takes it away. What keeps new pods off keeps it off
 * as well, unless its first tenant tolerates that. */
static void write_tolerations(struct build *b, const struct action *x)
{
	static const struct toleration gpu = {.key = NAME_GPU_RESOURCE, .operator= "Exists" };
	static const struct toleration stays = {.operator= "Exists", .effect = "NoExecute"};
	build_array_at(b, "tolerations");
	make_toleration(b, &gpu);
	if (!text_empty(x->node)) {
		make_toleration(b, &stays);
	}
	for (uint32_t i = 0; i < x->toleration_count; i++) {
		make_toleration(b, &x->tolerations[i]);
	}
	build_end(b);
}

static void write_spec(struct build *b, const struct act_settings *s, const struct action *x)
{
	/* Always: a main container that was killed finds its device again. It compares identities
	 * first, so a pod that came back with another GPU holds nothing. */
	make_spec(b, "Always", NAME_CAPACITY, GRACE_S);
	if (!text_empty(x->runtime_class)) {
		build_text_at(b, "runtimeClassName", x->runtime_class);
	}
	write_tolerations(b, x);
	if (!text_empty(x->node)) {
		make_pin(b, x->node);
	} else {
		make_where(b, x);
	}
	write_containers(b, s);
	build_end(b);
}

int create_capacity_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault)
{
	struct build b = build_into(&ret_draft->body);
	if (make_check_owner(s, ret_fault) < 0 || make_pod(s, x, ret_draft, &b, ret_fault) < 0) {
		return -1;
	}
	write_metadata(&b, s, x);
	write_spec(&b, s, x);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}

bool create_capacity_is_ours(const struct act_settings *s, const struct pod *pod)
{
	return pod_is_capacity(pod) && text_equals(pod->owner.uid, s->owner_uid) &&
	       pod->deleting_ms == 0 && !pod_is_terminal(pod);
}
