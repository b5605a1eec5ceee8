/* What the drafts have in common, and the copy of an action that outlives its plan. */
#include "draft.h"

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

static void action_copy_tolerations(struct arena *a, const struct action *from, struct action *to)
{
	to->tolerations = NULL;
	if (from->toleration_count == 0) {
		return;
	}
	to->tolerations = ARENA_ARRAY(a, struct toleration, from->toleration_count);
	for (uint32_t i = 0; i < from->toleration_count; i++) {
		const struct toleration *t = &from->tolerations[i];
		to->tolerations[i] = (struct toleration){
			.key = arena_strdup(a, t->key),
			.operator= arena_strdup(a, t->operator),
			.value = arena_strdup(a, t->value),
			.effect = arena_strdup(a, t->effect),
		};
	}
}

static void copy_terms(struct arena *a, const struct terms *from, struct terms *to)
{
	to->items = ARENA_ARRAY(a, struct term, from->count);
	to->count = from->count;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct term *t = &from->items[i];
		const char **values = ARENA_ARRAY(a, const char *, t->value_count);
		for (uint32_t k = 0; k < t->value_count; k++) {
			values[k] = arena_strdup(a, t->values[k]);
		}
		to->items[i] =
			(struct term){arena_strdup(a, t->key), t->operator, values, t->value_count};
	}
}

static void copy_where(struct arena *a, const struct action *from, struct action *to)
{
	to->where_labels.items = ARENA_ARRAY(a, struct pair, from->where_labels.count);
	for (uint32_t i = 0; i < from->where_labels.count; i++) {
		const struct pair *p = &from->where_labels.items[i];
		to->where_labels.items[i] =
			(struct pair){arena_strdup(a, p->key), arena_strdup(a, p->value)};
	}
	to->where_terms = ARENA_ARRAY(a, struct node_term, from->where_count);
	for (uint32_t i = 0; i < from->where_count; i++) {
		copy_terms(a, &from->where_terms[i].labels, &to->where_terms[i].labels);
		copy_terms(a, &from->where_terms[i].fields, &to->where_terms[i].fields);
	}
}

static void copy_ledger(struct arena *a, const struct ledger *from, struct ledger *to)
{
	*to = (struct ledger){.count = from->count};
	if (from->count == 0) {
		return;
	}
	to->items = ARENA_ARRAY(a, struct grant, from->count);
	for (uint32_t i = 0; i < from->count; i++) {
		to->items[i] = from->items[i];
		to->items[i].uid = arena_strdup(a, from->items[i].uid);
		to->items[i].ns = arena_strdup(a, from->items[i].ns);
		to->items[i].name = arena_strdup(a, from->items[i].name);
	}
}

static void copy_gates(struct arena *a, const struct action *from, struct action *to)
{
	to->gates = NULL;
	if (from->gate_count > 0) {
		to->gates = ARENA_ARRAY(a, const char *, from->gate_count);
	}
	for (uint32_t i = 0; i < from->gate_count; i++) {
		to->gates[i] = arena_strdup(a, from->gates[i]);
	}
}

static void copy_recommendation(struct arena *a, const struct action *from, struct action *to)
{
	const struct owner *o = &from->owner;
	to->owner = (struct owner){arena_strdup(a, o->api_version), arena_strdup(a, o->kind),
		arena_strdup(a, o->name), arena_strdup(a, o->uid)};
	if (from->recommendation != NULL) {
		struct recommendation *r = ARENA_NEW(a, struct recommendation);
		recommendation_copy(a, from->recommendation, r);
		to->recommendation = r;
	}
}

static void copy_checkpoint(struct arena *a, const struct action *from, struct action *to)
{
	const struct checkpoint *c = from->checkpoint;
	to->owner_uid = arena_strdup(a, from->owner_uid);
	if (c == NULL) {
		return;
	}
	struct checkpoint *made = ARENA_NEW(a, struct checkpoint);
	*made = *c;
	made->ns = arena_strdup(a, c->ns);
	made->name = arena_strdup(a, c->name);
	made->uid = arena_strdup(a, c->uid);
	made->resource_version = arena_strdup(a, c->resource_version);
	made->recommendation = arena_strdup(a, c->recommendation);
	made->container = arena_strdup(a, c->container);
	made->version = arena_strdup(a, c->version);
	made->bytes.p = memcpy(arena_alloc(a, c->bytes.n + 1), c->bytes.p, c->bytes.n);
	to->checkpoint = made;
}

static void copy_surge(struct arena *a, const struct action *from, struct action *to)
{
	if (from->surge == NULL) {
		return;
	}
	struct surge_order *made = ARENA_NEW(a, struct surge_order);
	*made = *from->surge;
	made->set_name = arena_strdup(a, made->set_name);
	made->set_uid = arena_strdup(a, made->set_uid);
	made->hash = arena_strdup(a, made->hash);
	made->old_uid = arena_strdup(a, made->old_uid);
	made->fresh_name = arena_strdup(a, made->fresh_name);
	made->fresh_uid = arena_strdup(a, made->fresh_uid);
	to->surge = made;
}

void action_copy(struct arena *arena, const struct action *from, struct action *ret_action)
{
	struct action *to = ret_action;
	*to = *from;
	to->ns = arena_strdup(arena, from->ns);
	to->name = arena_strdup(arena, from->name);
	to->uid = arena_strdup(arena, from->uid);
	to->resource_version = arena_strdup(arena, from->resource_version);
	to->node = arena_strdup(arena, from->node);
	to->runtime_class = arena_strdup(arena, from->runtime_class);
	to->uuid = arena_strdup(arena, from->uuid);
	to->capacity_pod = arena_strdup(arena, from->capacity_pod);
	to->container = arena_strdup(arena, from->container);
	to->claim = inject_claim_copy(arena, from->claim);
	to->policy = arena_strdup(arena, from->policy);
	to->event_reason = arena_strdup(arena, from->event_reason);
	to->condition = arena_strdup(arena, from->condition);
	to->message = arena_strdup(arena, from->message);
	to->regarding_kind = arena_strdup(arena, from->regarding_kind);
	to->regarding_api_version = arena_strdup(arena, from->regarding_api_version);
	copy_recommendation(arena, from, to);
	copy_checkpoint(arena, from, to);
	copy_surge(arena, from, to);
	action_copy_tolerations(arena, from, to);
	copy_where(arena, from, to);
	copy_ledger(arena, &from->ledger, &to->ledger);
	copy_ledger(arena, &from->still, &to->still);
	copy_gates(arena, from, to);
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
