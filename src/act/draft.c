/* What the drafts have in common, and the copy of an action that outlives its plan. */
#include "draft.h"

#include "record/tables.h"

void draft_metadata(struct build *b, const struct action *x)
{
	build_object_at(b, "metadata");
	if (!text_empty(x->uid)) {
		build_text_at(b, "uid", x->uid);
	}
	if (!text_empty(x->resource_version)) {
		build_text_at(b, "resourceVersion", x->resource_version);
	}
}

struct build draft_patch_pod(const struct action *x, struct draft *ret_draft)
{
	ret_draft->method = WIRE_PATCH;
	ret_draft->path = (struct kube_path){
		.group_version = "v1", .ns = x->ns, .resource = "pods", .name = x->name};
	ret_draft->content_type = KUBE_MERGE_PATCH;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	draft_metadata(&b, x);
	return b;
}

static int append_dump(const char *p, size_t n, void *data)
{
	return str_append(data, p, n) ? 0 : -1;
}

void draft_json(struct build *b, const json_t *value)
{
	CLEANUP(str_finish) struct str text = STR_INIT(DRAFT_BODY_MAX);
	if (json_dump_callback(value, append_dump, &text, JSON_COMPACT | JSON_ENCODE_ANY) != 0) {
		b->out->overflow = true;
		build_null(b);
		return;
	}
	build_raw(b, str_text(&text), text.len);
}

int draft_end(const struct build *b, struct draft *d, struct fault *ret_fault)
{
	if (!build_ok(b) || d->body.overflow) {
		return fault_set(ret_fault, FAULT_LIMIT, "the request would be larger than %d KiB",
			DRAFT_BODY_MAX / 1024);
	}
	return 0;
}

void action_copy(struct arena *arena, const struct action *from, struct action *ret_action)
{
	record_copy(arena, &action_table, from, ret_action);
	struct checkpoint *c = record_clone(arena, &checkpoint_table, from->checkpoint);
	if (c != NULL) {
		c->bytes.p = arena_strndup(arena, c->bytes.p, c->bytes.n);
	}
	ret_action->checkpoint = c;
}

bool action_same_object(const struct action *x, const struct action *y)
{
	/* What is read is no pod, and of several kinds. */
	if (x->type == ACTION_READ_OWNER || y->type == ACTION_READ_OWNER) {
		return x->type == y->type && text_equals(x->owner.kind, y->owner.kind) &&
		       text_equals(x->owner.name, y->owner.name) && text_equals(x->ns, y->ns);
	}
	return text_equals(x->name, y->name) &&
	       text_equals(text_or(x->ns, ""), text_or(y->ns, "")) &&
	       (x->type == ACTION_POLICY_STATUS) == (y->type == ACTION_POLICY_STATUS);
}

int draft_delete(const struct action *x, const struct kube_path *path, int64_t grace_s,
	struct draft *ret_draft, struct fault *ret_fault)
{
	ret_draft->method = WIRE_DELETE;
	ret_draft->path = *path;
	ret_draft->content_type = KUBE_JSON;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "DeleteOptions");
	if (grace_s > 0) {
		build_i64_at(&b, "gracePeriodSeconds", grace_s);
	}
	build_object_at(&b, "preconditions");
	build_text_at(&b, "uid", x->uid);
	if (!text_empty(x->resource_version)) {
		build_text_at(&b, "resourceVersion", x->resource_version);
	}
	build_end(&b);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}
