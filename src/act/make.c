/* What the pods that we make have in common: small, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. */
#include "make.h"

#include "act/restricted.h"
#include "codec/parts.h"
#include "model/names.h"

int make_pod(const struct action *x, const struct owner *owner, struct draft *d,
	struct build *ret_build, struct fault *ret_fault)
{
	const struct kube_path path = {.group_version = "v1", .ns = x->ns, .resource = "pods"};
	if (text_empty(d->settings->image)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "no image for capacity pods is configured");
	}
	struct build b = draft_begin(d, WIRE_POST, KUBE_JSON, &path);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "Pod");
	build_object_at(&b, "metadata");
	draft_name(&b, x);
	draft_owner(&b, owner, true);
	build_object_at(&b, "annotations");
	build_text_at(&b, NOTE_SAFE_TO_EVICT, "true");
	if (x->mps) {
		build_text_at(&b, NOTE_ISOLATION, ISOLATION_MPS_TEXT);
	}
	*ret_build = b;
	return 0;
}

void make_labels(struct build *b, const char *app)
{
	build_end(b);
	build_object_at(b, "labels");
	build_text_at(b, "app.kubernetes.io/name", app);
	build_text_at(b, "app.kubernetes.io/part-of", "aliquot");
}

void make_spec(
	struct build *b, const char *restart, const char *priority, int64_t grace_s, int64_t uid)
{
	draft_close(b, 2);
	build_object_at(b, "spec");
	build_text_at(b, "restartPolicy", restart);
	build_i64_at(b, "terminationGracePeriodSeconds", grace_s);
	build_text_at(b, "priorityClassName", priority);
	build_text_at(b, "serviceAccountName", NAME_CAPACITY);
	build_bool_at(b, "automountServiceAccountToken", false);
	build_bool_at(b, "enableServiceLinks", false);
	restricted_pod(b, uid);
}

static const struct field toleration_fields[] = {
	FIELD("key", text, AT(toleration, key)),
	FIELD("operator", text, AT(toleration, operator)),
	FIELD("value", text, AT(toleration, value)),
	FIELD("effect", text, AT(toleration, effect)),
};
static const struct shape toleration_shape = {SHAPE(toleration, toleration_fields)};

static void write_toleration(struct build *b, const struct toleration *t)
{
	build_begin_object(b);
	fields_write(b, &toleration_shape, "", t);
	build_end(b);
}

void make_runtime(struct build *b, const struct action *x, const struct toleration *const *own)
{
	if (!text_empty(x->runtime_class)) {
		build_text_at(b, "runtimeClassName", x->runtime_class);
	}
	build_array_at(b, "tolerations");
	for (; *own != NULL; own++) {
		write_toleration(b, *own);
	}
	for (uint32_t i = 0; i < x->toleration_count; i++) {
		write_toleration(b, &x->tolerations[i]);
	}
	build_end(b);
}

void make_container(
	struct build *b, const struct draft *d, const char *name, const char *const *args)
{
	build_begin_object(b);
	build_text_at(b, "name", name);
	build_text_at(b, "image", d->settings->image);
	if (!text_empty(d->settings->pull_policy)) {
		build_text_at(b, "imagePullPolicy", d->settings->pull_policy);
	}
	draft_texts(b, "args", args);
}

void make_variable(struct build *b, const char *name, const char *value)
{
	build_begin_object(b);
	build_text_at(b, "name", name);
	build_text_at(b, "value", value);
	build_end(b);
}

/* The pin is a field, not a hostname label: labels can lie and be shared (C15). */
void make_pin_field(struct build *b, const char *node)
{
	build_begin_object(b);
	build_text_at(b, "key", "metadata.name");
	build_text_at(b, "operator", "In");
	draft_texts(b, "values", (const char *const[]){node, NULL});
	build_end(b);
}

void make_node_terms(struct build *b)
{
	build_object_at(b, "affinity");
	build_object_at(b, "nodeAffinity");
	build_object_at(b, "requiredDuringSchedulingIgnoredDuringExecution");
	build_array_at(b, "nodeSelectorTerms");
}

void make_pin(struct build *b, const char *node)
{
	make_node_terms(b);
	build_begin_object(b);
	build_array_at(b, "matchFields");
	make_pin_field(b, node);
	draft_close(b, 6);
}

static const struct field where_fields[] = {
	FIELD("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
	      "nodeSelectorTerms",
		rows, AT(action, where_terms), COUNT_AT(action, where_count),
		.inside = &parts_node_term_shape),
};
static const struct shape where_shape = {SHAPE(action, where_fields)};

void make_where(struct build *b, const struct action *x)
{
	if (x->where_labels.count > 0) {
		build_object_at(b, "nodeSelector");
		for (uint32_t i = 0; i < x->where_labels.count; i++) {
			build_text_at(
				b, x->where_labels.items[i].key, x->where_labels.items[i].value);
		}
		build_end(b);
	}
	fields_write(b, &where_shape, "", x);
}
