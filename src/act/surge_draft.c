/* The new pod has the old one's template and all its labels but the one by which its ReplicaSet
 * counts its pods, and names that ReplicaSet as an owner that does not control it: from birth, so
 * that whoever prunes by owners finds one, and adoption turns that very reference. */
#include "surge_draft.h"

#include "json/decode.h"
#include "json/fields.h"
#include "model/names.h"

static void surge_metadata(
	struct build *b, const struct action *x, const json_t *template, int64_t generation)
{
	const struct surge_order *o = x->surge;
	build_object_at(b, "metadata");
	draft_name(b, x);
	build_object_at(b, "labels");
	draft_members(b, decode_find(template, "metadata.labels"),
		WORDS(LABEL_TEMPLATE_HASH, LABEL_SURGE));
	build_text_at(b, LABEL_SURGE, o->old_uid);
	build_end(b);
	build_object_at(b, "annotations");
	draft_members(b, decode_find(template, "metadata.annotations"),
		WORDS(NOTE_SURGE_HASH, NOTE_SURGE_GENERATION, NOTE_SURGED_BY));
	build_text_at(b, NOTE_SURGE_HASH, o->hash);
	draft_i64_text(b, NOTE_SURGE_GENERATION, generation);
	build_end(b);
	draft_owner(
		b, &(const struct owner){"apps/v1", "ReplicaSet", o->set_name, o->set_uid}, false);
	build_end(b);
}

/* It is the one that was judged, and its pods are found by the label that ours lacks. */
static int check_set(const struct surge_order *o, const json_t *set, const json_t **ret_template,
	struct fault *ret_fault)
{
	const char *uid = json_string_value(decode_find(set, "metadata.uid"));
	const json_t *selector = decode_find(set, "spec.selector.matchLabels");
	const char *hash = json_string_value(json_object_get(selector, LABEL_TEMPLATE_HASH));
	const json_t *template = decode_find(set, "spec.template");
	if (!text_equals(uid, o->set_uid) || decode_find(set, "metadata.deletionTimestamp")) {
		return fault_set(ret_fault, FAULT_CONFLICT,
			"ReplicaSet %s is not the one that was judged", o->set_name);
	}
	if (hash == NULL || !text_equals(hash, o->hash) ||
		!json_is_object(decode_find(template, "spec"))) {
		return fault_set(ret_fault, FAULT_INVALID,
			"ReplicaSet %s does not select its pods by %s=%s", o->set_name,
			LABEL_TEMPLATE_HASH, o->hash);
	}
	*ret_template = template;
	return 0;
}

int surge_create_draft(
	const struct action *x, const json_t *set, struct draft *d, struct fault *ret_fault)
{
	const struct surge_order *o = x->surge;
	const struct kube_path path = {.group_version = "v1", .ns = x->ns, .resource = "pods"};
	const json_t *template = NULL;
	if (text_empty(o->old_uid) || text_empty(o->set_uid) || text_empty(o->hash)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a surge needs the uids of the old pod and of its ReplicaSet");
	}
	if (check_set(o, set, &template, ret_fault) < 0) {
		return -1;
	}
	struct build b = draft_begin(d, WIRE_POST, KUBE_JSON, &path);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "Pod");
	surge_metadata(
		&b, x, template, json_integer_value(decode_find(set, "metadata.generation")));
	build_key(&b, "spec");
	draft_json(&b, decode_find(template, "spec"));
	return draft_end(&b, ret_fault);
}

int surge_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	const struct kube_path path = draft_pod_path(x, NULL);
	if (text_empty(x->uid) || text_empty(x->resource_version)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a write of a surge needs the pod's uid and resourceVersion");
	}
	if (x->surge->task == SURGE_TASK_DROP) {
		return draft_delete(x, &path, 0, d, ret_fault);
	}
	struct build b = draft_patch_pod(x, d);
	switch (x->surge->task) {
	case SURGE_TASK_CHEAPEN:
		build_object_at(&b, "annotations");
		draft_i64_text(&b, NOTE_DELETION_COST, SURGE_COST);
		build_text_at(&b, NOTE_SURGED_BY, text_or(x->surge->fresh_name, ""));
		break;
	case SURGE_TASK_RESTORE:
		build_object_at(&b, "annotations");
		build_text_at(&b, NOTE_DELETION_COST, NULL);
		build_text_at(&b, NOTE_SURGED_BY, NULL);
		break;
	case SURGE_TASK_ADOPT:
		build_object_at(&b, "labels");
		build_text_at(&b, LABEL_TEMPLATE_HASH, x->surge->hash);
		break;
	case SURGE_TASK_DROP:
	case SURGE_TASK_LOOK:
	case SURGE_TASK_READ:
	case SURGE_TASK_CREATE:
		BUG("a task of several requests");
	}
	return draft_end(&b, ret_fault);
}
