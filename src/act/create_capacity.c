/* The capacity pod (C9, C10, C15): small, Guaranteed, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. Its init container tells which GPU the device
 * plugin gave, its main container holds it. */
#include "act_parts.h"
#include "model/names.h"

#define IDENTITY_DIR  "/run/aliquot"
#define IDENTITY_FILE IDENTITY_DIR "/identity"
#define VOLUME	      "identity"
#define NOT_ROOT      65532
#define GRACE_S	      10

static void write_labels(struct build *b, const struct action *x)
{
	build_object_at(b, "labels");
	build_text_at(b, "app.kubernetes.io/name", NAME_CAPACITY);
	build_text_at(b, "app.kubernetes.io/part-of", "aliquot");
	build_text_at(b, LABEL_CAPACITY, "true");
	build_text_at(b, LABEL_IN_USE, "false");
	if (x->unpinned) {
		build_text_at(b, LABEL_PAIR, x->name);
	}
	build_end(b);
}

static const char *owner_name(const struct act_settings *s)
{
	return text_empty(s->owner_name) ? NAME_CAPACITY : s->owner_name;
}

static void write_metadata(struct build *b, const struct act_settings *s, const struct action *x)
{
	build_object_at(b, "metadata");
	build_text_at(b, "name", x->name);
	build_text_at(b, "namespace", x->ns);
	write_labels(b, x);
	build_object_at(b, "annotations");
	build_text_at(b, NOTE_SAFE_TO_EVICT, "true");
	build_end(b);
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	build_text_at(b, "apiVersion", "v1");
	build_text_at(b, "kind", "ConfigMap");
	build_text_at(b, "name", owner_name(s));
	build_text_at(b, "uid", s->owner_uid);
	build_bool_at(b, "controller", true);
	build_end(b);
	build_end(b);
	build_end(b);
}

static void write_amounts(struct build *b, const char *key)
{
	build_object_at(b, key);
	build_text_at(b, "cpu", "10m");
	build_text_at(b, "memory", "32Mi");
	build_text_at(b, NAME_GPU_RESOURCE, "1");
	build_end(b);
}

void make_container_security(struct build *b)
{
	build_object_at(b, "securityContext");
	build_bool_at(b, "allowPrivilegeEscalation", false);
	build_bool_at(b, "readOnlyRootFilesystem", true);
	build_object_at(b, "capabilities");
	build_array_at(b, "drop");
	build_text(b, "ALL");
	build_end(b);
	build_end(b);
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

void make_image(struct build *b, const struct act_settings *s)
{
	build_text_at(b, "image", s->image);
	if (!text_empty(s->pull_policy)) {
		build_text_at(b, "imagePullPolicy", s->pull_policy);
	}
	/* The image's entry point is the binary, unless the configuration knows better. */
	if (!text_empty(s->command)) {
		build_array_at(b, "command");
		build_text(b, s->command);
		build_end(b);
	}
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

void make_toleration(struct build *b, const struct toleration *t)
{
	const char *texts[][2] = {{"key", t->key},
		{"operator", t->operator}, {"value", t->value}, {"effect", t->effect}};
	build_begin_object(b);
	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		if (!text_empty(texts[i][1])) {
			build_text_at(b, texts[i][0], texts[i][1]);
		}
	}
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

/* The pin is a field, not a hostname label: labels can lie and be shared (C15). */
static void write_pin(struct build *b, const char *node)
{
	build_object_at(b, "affinity");
	build_object_at(b, "nodeAffinity");
	build_object_at(b, "requiredDuringSchedulingIgnoredDuringExecution");
	build_array_at(b, "nodeSelectorTerms");
	build_begin_object(b);
	build_array_at(b, "matchFields");
	build_begin_object(b);
	build_text_at(b, "key", "metadata.name");
	build_text_at(b, "operator", "In");
	build_array_at(b, "values");
	build_text(b, node);
	for (int i = 0; i < 8; i++) {
		build_end(b);
	}
}

void make_security(struct build *b)
{
	build_object_at(b, "securityContext");
	build_bool_at(b, "runAsNonRoot", true);
	build_i64_at(b, "runAsUser", NOT_ROOT);
	build_i64_at(b, "runAsGroup", NOT_ROOT);
	build_object_at(b, "seccompProfile");
	build_text_at(b, "type", "RuntimeDefault");
	build_end(b);
	build_end(b);
}

static void write_spec(struct build *b, const struct act_settings *s, const struct action *x)
{
	build_object_at(b, "spec");
	/* Always: a main container that was killed finds its device again. It compares identities
	 * first, so a pod that came back with another GPU holds nothing. */
	build_text_at(b, "restartPolicy", "Always");
	build_i64_at(b, "terminationGracePeriodSeconds", GRACE_S);
	build_text_at(b, "priorityClassName", NAME_CAPACITY);
	build_text_at(b, "serviceAccountName", NAME_CAPACITY);
	build_bool_at(b, "automountServiceAccountToken", false);
	build_bool_at(b, "enableServiceLinks", false);
	if (!text_empty(x->runtime_class)) {
		build_text_at(b, "runtimeClassName", x->runtime_class);
	}
	make_security(b);
	write_tolerations(b, x);
	if (!text_empty(x->node)) {
		write_pin(b, x->node);
	} else {
		make_where(b, x);
	}
	write_containers(b, s);
	build_end(b);
}

int create_capacity_draft(const struct act_settings *s, const struct action *x,
	struct draft *ret_draft, struct fault *ret_fault)
{
	if (text_empty(s->owner_uid)) {
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"the ConfigMap %s, which owns capacity pods, was not found yet",
			owner_name(s));
	}
	if (text_empty(s->image)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "no image for capacity pods is configured");
	}
	ret_draft->method = WIRE_POST;
	ret_draft->path =
		(struct kube_path){.group_version = "v1", .ns = x->ns, .resource = "pods"};
	ret_draft->content_type = KUBE_JSON;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "Pod");
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
