/* The new pod has the old one's template and all its labels but the one by which its ReplicaSet
 * counts its pods, and names that ReplicaSet as an owner that does not control it: from birth, so
 * that whoever prunes by owners finds one, and adoption turns that very reference. */
#include "surge_draft.h"

#include "json/decode.h"
#include "model/names.h"

/* --- the new pod --- */

/* All members of a map of the template but those that are ours to write; it stays open. */
static void write_map(
	struct build *b, const char *key, const json_t *map, const char *const *not_these)
{
	void *at = json_object_iter((json_t *)(uintptr_t)map);
	build_object_at(b, key);
	for (; at != NULL; at = json_object_iter_next((json_t *)(uintptr_t)map, at)) {
		const char *name = json_object_iter_key(at);
		const char *const *not = not_these;
		while (*not != NULL && !text_equals(*not, name)) {
			not ++;
		}
		if (*not == NULL) {
			build_key(b, name);
			draft_json(b, json_object_iter_value(at));
		}
	}
}

static void surge_owner(struct build *b, const struct surge_order *o)
{
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	build_text_at(b, "apiVersion", "apps/v1");
	build_text_at(b, "kind", "ReplicaSet");
	build_text_at(b, "name", o->set_name);
	build_text_at(b, "uid", o->set_uid);
	build_bool_at(b, "controller", false);
	build_end(b);
	build_end(b);
}

static void surge_metadata(
	struct build *b, const struct action *x, const json_t *template, int64_t generation)
{
	static const char *const labels[] = {LABEL_TEMPLATE_HASH, LABEL_SURGE, NULL};
	static const char *const notes[] = {
		NOTE_SURGE_HASH, NOTE_SURGE_GENERATION, NOTE_SURGED_BY, NULL};
	const struct surge_order *o = x->surge;
	char number[24];
	snprintf(number, sizeof number, "%lld", (long long)generation);
	build_object_at(b, "metadata");
	build_text_at(b, "name", x->name);
	build_text_at(b, "namespace", x->ns);
	write_map(b, "labels", decode_find(template, "metadata.labels"), labels);
	build_text_at(b, LABEL_SURGE, o->old_uid);
	build_end(b);
	write_map(b, "annotations", decode_find(template, "metadata.annotations"), notes);
	build_text_at(b, NOTE_SURGE_HASH, o->hash);
	build_text_at(b, NOTE_SURGE_GENERATION, number);
	build_end(b);
	surge_owner(b, o);
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
	const struct action *x, const json_t *set, struct draft *ret_draft, struct fault *ret_fault)
{
	const struct surge_order *o = x->surge;
	const json_t *template = NULL;
	if (text_empty(o->old_uid) || text_empty(o->set_uid) || text_empty(o->hash)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a surge needs the uids of the old pod and of its ReplicaSet");
	}
	if (check_set(o, set, &template, ret_fault) < 0) {
		return -1;
	}
	ret_draft->method = WIRE_POST;
	ret_draft->path =
		(struct kube_path){.group_version = "v1", .ns = x->ns, .resource = "pods"};
	ret_draft->content_type = KUBE_JSON;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "Pod");
	surge_metadata(
		&b, x, template, json_integer_value(decode_find(set, "metadata.generation")));
	build_key(&b, "spec");
	draft_json(&b, decode_find(template, "spec"));
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}

/* --- the rest --- */

static int cost_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	const char *fresh =
		x->surge->task == SURGE_TASK_CHEAPEN ? text_or(x->surge->fresh_name, "") : NULL;
	char cost[24];
	snprintf(cost, sizeof cost, "%d", SURGE_COST);
	struct build b = draft_patch_pod(x, ret_draft);
	build_object_at(&b, "annotations");
	build_text_at(&b, NOTE_DELETION_COST, fresh == NULL ? NULL : cost);
	build_text_at(&b, NOTE_SURGED_BY, fresh);
	for (int i = 0; i < 3; i++) {
		build_end(&b);
	}
	return draft_end(&b, ret_draft, ret_fault);
}

static int adopt_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	struct build b = draft_patch_pod(x, ret_draft);
	build_object_at(&b, "labels");
	build_text_at(&b, LABEL_TEMPLATE_HASH, x->surge->hash);
	for (int i = 0; i < 3; i++) {
		build_end(&b);
	}
	return draft_end(&b, ret_draft, ret_fault);
}

static int drop_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	const struct kube_path path = {
		.group_version = "v1", .ns = x->ns, .resource = "pods", .name = x->name};
	return draft_delete(x, &path, 0, ret_draft, ret_fault);
}

int surge_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	if (text_empty(x->uid) || text_empty(x->resource_version)) {
		return fault_set(ret_fault, FAULT_INVALID,
			"a write of a surge needs the pod's uid and resourceVersion");
	}
	switch (x->surge->task) {
	case SURGE_TASK_CHEAPEN:
	case SURGE_TASK_RESTORE:
		return cost_draft(x, ret_draft, ret_fault);
	case SURGE_TASK_ADOPT:
		return adopt_draft(x, ret_draft, ret_fault);
	case SURGE_TASK_DROP:
		return drop_draft(x, ret_draft, ret_fault);
	case SURGE_TASK_LOOK:
	case SURGE_TASK_READ:
	case SURGE_TASK_CREATE:
		break;
	}
	BUG("a task of several requests");
}
