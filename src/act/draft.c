/* What the drafts have in common, and the copy of an action that outlives its plan. */
#include "draft.h"

#include <stdio.h>

#include "codec/parts.h"
#include "record/tables.h"

struct kube_path draft_pod_path(const struct action *x, const char *subresource)
{
	return (struct kube_path){.group_version = "v1",
		.ns = x->ns,
		.resource = "pods",
		.name = x->name,
		.subresource = subresource};
}

struct build draft_request(struct draft *d, enum wire_method method, const char *content_type,
	const struct kube_path *path)
{
	d->write =
		(struct kube_write){.method = method, .path = *path, .content_type = content_type};
	return build_into(&d->body);
}

struct build draft_begin(struct draft *d, enum wire_method method, const char *content_type,
	const struct kube_path *path)
{
	struct build b = draft_request(d, method, content_type, path);
	build_begin_object(&b);
	return b;
}

struct build draft_patch_pod(const struct action *x, struct draft *d)
{
	const struct kube_path path = draft_pod_path(x, NULL);
	struct build b = draft_begin(d, WIRE_PATCH, KUBE_MERGE_PATCH, &path);
	draft_identity(&b, "metadata", x);
	return b;
}

int draft_delete(const struct action *x, const struct kube_path *path, int64_t grace_s,
	struct draft *d, struct fault *ret_fault)
{
	struct build b = draft_begin(d, WIRE_DELETE, KUBE_JSON, path);
	build_text_at(&b, "apiVersion", "v1");
	build_text_at(&b, "kind", "DeleteOptions");
	if (grace_s > 0) {
		build_i64_at(&b, "gracePeriodSeconds", grace_s);
	}
	draft_identity(&b, "preconditions", x);
	return draft_end(&b, ret_fault);
}

void draft_identity(struct build *b, const char *key, const struct action *x)
{
	build_object_at(b, key);
	if (!text_empty(x->uid)) {
		build_text_at(b, "uid", x->uid);
	}
	if (!text_empty(x->resource_version)) {
		build_text_at(b, "resourceVersion", x->resource_version);
	}
}

void draft_name(struct build *b, const struct action *x)
{
	build_text_at(b, "name", x->name);
	build_text_at(b, "namespace", x->ns);
}

void draft_i64_text(struct build *b, const char *key, int64_t value)
{
	char number[24];
	snprintf(number, sizeof number, "%lld", (long long)value);
	build_text_at(b, key, number);
}

void draft_owner(struct build *b, const struct owner *owner, bool controls)
{
	build_array_at(b, "ownerReferences");
	build_begin_object(b);
	fields_write(b, &parts_owner_shape, "", owner);
	build_bool_at(b, "controller", controls);
	draft_close(b, 2);
}

void draft_texts(struct build *b, const char *key, const char *const *texts)
{
	build_array_at(b, key);
	for (; *texts != NULL; texts++) {
		build_text(b, *texts);
	}
	build_end(b);
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

static bool is_one_of(const char *const *texts, const char *text)
{
	while (*texts != NULL && !text_equals(*texts, text)) {
		texts++;
	}
	return *texts != NULL;
}

void draft_members(struct build *b, const json_t *object, const char *const *but)
{
	/* jansson's iteration takes a pointer that it does not write through. */
	json_t *all = (json_t *)(uintptr_t)object;
	const char *key;
	json_t *value;
	json_object_foreach(all, key, value)
	{
		if (!is_one_of(but, key)) {
			build_key(b, key);
			draft_json(b, value);
		}
	}
}

void draft_close(struct build *b, uint32_t levels)
{
	for (; levels > 0; levels--) {
		build_end(b);
	}
}

int draft_end(struct build *b, struct fault *ret_fault)
{
	draft_close(b, b->depth);
	return build_ok(b)
		       ? 0
		       : fault_set(ret_fault, FAULT_LIMIT,
				 "the request would be larger than %d KiB", DRAFT_BODY_MAX / 1024);
}

uint64_t draft_send(
	const struct draft *d, struct kube *kube, int64_t timeout_ms, kube_done done, void *data)
{
	struct kube_write write = d->write;
	write.body = str_text(&d->body);
	write.body_size = d->body.len;
	write.timeout_ms = timeout_ms;
	return kube_put(kube, &write, done, data);
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
	/* An owner that is read is no pod, and of several kinds. */
	if (x->type == ACTION_READ_OWNER || y->type == ACTION_READ_OWNER) {
		return x->type == y->type && text_equals(x->owner.kind, y->owner.kind) &&
		       text_equals(x->owner.name, y->owner.name) && text_equals(x->ns, y->ns);
	}
	return text_equals(x->name, y->name) &&
	       text_equals(text_or(x->ns, ""), text_or(y->ns, "")) &&
	       (x->type == ACTION_POLICY_STATUS) == (y->type == ACTION_POLICY_STATUS);
}
