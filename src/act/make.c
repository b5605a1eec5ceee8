/* What the pods that we make have in common: small, without rights, token or port, and fit for a
 * namespace that enforces the restricted profile. */
#include "make.h"

#include <stdlib.h>

#include "act/restricted.h"
#include "base/alloc.h"
#include "model/names.h"

void act_settings_init(struct act_settings *s, const struct act_config *config)
{
	*s = (struct act_settings){
		.ns = xstrdup(text_or(config->ns, NAME_NAMESPACE)),
		.image = xstrdup(config->image),
		.pull_policy = xstrdup(config->pull_policy),
		.owner_name = xstrdup(config->owner_name),
		.owner_uid = xstrdup(config->owner_uid),
		.command = xstrdup(config->command),
	};
}

void act_settings_finish(struct act_settings *s)
{
	char *all[] = {s->ns, s->image, s->pull_policy, s->owner_name, s->owner_uid, s->command};
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		free(all[i]);
	}
}

int make_pod(const struct act_settings *s, const struct action *x, struct draft *ret_draft,
	struct build *b, struct fault *ret_fault)
{
	if (text_empty(s->image)) {
		return fault_set(
			ret_fault, FAULT_INVALID, "no image for capacity pods is configured");
	}
	ret_draft->method = WIRE_POST;
	ret_draft->path =
		(struct kube_path){.group_version = "v1", .ns = x->ns, .resource = "pods"};
	ret_draft->content_type = KUBE_JSON;
	build_begin_object(b);
	build_text_at(b, "apiVersion", "v1");
	build_text_at(b, "kind", "Pod");
	return 0;
}

void make_notes(struct build *b, const struct action *x)
{
	build_object_at(b, "metadata");
	build_text_at(b, "name", x->name);
	build_text_at(b, "namespace", x->ns);
	build_object_at(b, "annotations");
	build_text_at(b, NOTE_SAFE_TO_EVICT, "true");
	if (x->mps) {
		build_text_at(b, NOTE_ISOLATION, ISOLATION_MPS_TEXT);
	}
}

void make_labels(struct build *b, const char *app)
{
	build_object_at(b, "labels");
	build_text_at(b, "app.kubernetes.io/name", app);
	build_text_at(b, "app.kubernetes.io/part-of", "aliquot");
}

void make_metadata(struct build *b, const struct action *x, const char *app)
{
	make_notes(b, x);
	build_end(b);
	make_labels(b, app);
}

void make_owner(struct build *b, const char *kind, const char *name, const char *uid)
{
	build_end(b);
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	build_text_at(b, "apiVersion", "v1");
	build_text_at(b, "kind", kind);
	build_text_at(b, "name", name);
	build_text_at(b, "uid", uid);
	build_bool_at(b, "controller", true);
	build_end(b);
	build_end(b);
	build_end(b);
}

const char *make_owner_name(const struct act_settings *s)
{
	return text_empty(s->owner_name) ? NAME_CAPACITY : s->owner_name;
}

int make_check_owner(const struct act_settings *s, struct fault *ret_fault)
{
	if (text_empty(s->owner_uid)) {
		return fault_set(ret_fault, FAULT_TRANSIENT,
			"the ConfigMap %s, which owns capacity pods, was not found yet",
			make_owner_name(s));
	}
	return 0;
}

void make_spec(
	struct build *b, const char *restart, const char *priority, int64_t grace_s, int64_t uid)
{
	build_object_at(b, "spec");
	build_text_at(b, "restartPolicy", restart);
	build_i64_at(b, "terminationGracePeriodSeconds", grace_s);
	build_text_at(b, "priorityClassName", priority);
	build_text_at(b, "serviceAccountName", NAME_CAPACITY);
	build_bool_at(b, "automountServiceAccountToken", false);
	build_bool_at(b, "enableServiceLinks", false);
	restricted_pod(b, uid);
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

/* The pin is a field, not a hostname label: labels can lie and be shared (C15). */
void make_pin(struct build *b, const char *node)
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

static void write_requirements(struct build *b, const char *key, const struct terms *terms)
{
	static const char *const operators[] = {
		"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
	if (terms->count == 0) {
		return;
	}
	build_array_at(b, key);
	for (uint32_t i = 0; i < terms->count; i++) {
		const struct term *t = &terms->items[i];
		build_begin_object(b);
		build_text_at(b, "key", t->key);
		build_text_at(b, "operator", operators[t->operator]);
		if (t->value_count > 0) {
			build_array_at(b, "values");
			for (uint32_t k = 0; k < t->value_count; k++) {
				build_text(b, t->values[k]);
			}
			build_end(b);
		}
		build_end(b);
	}
	build_end(b);
}

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
	if (x->where_count == 0) {
		return;
	}
	build_object_at(b, "affinity");
	build_object_at(b, "nodeAffinity");
	build_object_at(b, "requiredDuringSchedulingIgnoredDuringExecution");
	build_array_at(b, "nodeSelectorTerms");
	for (uint32_t i = 0; i < x->where_count; i++) {
		build_begin_object(b);
		write_requirements(b, "matchExpressions", &x->where_terms[i].labels);
		write_requirements(b, "matchFields", &x->where_terms[i].fields);
		build_end(b);
	}
	for (int i = 0; i < 4; i++) {
		build_end(b);
	}
}
