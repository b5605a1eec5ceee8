/* What the sizer writes: GPURecommendations and GPUUsageCheckpoints. A recommendation is made with
 * its owner, so that it goes when the workload goes; the owner is read first where a pod does not
 * tell its uid. The status is ours alone and is applied as a whole. */
#include "sizer_draft.h"

#include "own/checkpoint.h"
#include "own/gpurecommendation.h"
#include "json/decode.h"
#include "model/names.h"

#define OUR_API	   NAME_GROUP "/" NAME_VERSION
#define PLURAL_MAX 64

/* Of the kinds that the sizer names: the kind in lower case and an s. */
static const char *resource_of_kind(const char *kind, struct arena *a)
{
	char *text = arena_printf(a, "%.*ss", PLURAL_MAX, kind);
	for (char *c = text; *c != '\0'; c++) {
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	}
	return text;
}

bool recommendation_reads_owner(const struct action *x)
{
	return x->type == ACTION_CREATE_RECOMMENDATION && x->owner.api_version != NULL &&
	       x->owner.uid == NULL;
}

struct kube_path recommendation_owner_path(const struct action *x, struct arena *a)
{
	return (struct kube_path){.group_version = x->owner.api_version,
		.ns = x->ns,
		.resource = resource_of_kind(x->owner.kind, a),
		.name = x->owner.name};
}

int recommendation_owner_read(struct action *x, const struct kube_answer *answer, struct arena *a,
	struct fault *ret_fault)
{
	CLEANUP(decode_release) json_t *root = NULL;
	const char *uid = NULL;
	if (answer->fault.kind != FAULT_NONE) {
		fault_copy(ret_fault, &answer->fault);
		return fault_wrap(ret_fault,
			"the %s %s cannot be read, with which its "
			"GPURecommendation should go",
			x->owner.kind, x->owner.name);
	}
	if (decode_parse(answer->body, answer->body_size, DECODE_MEND, &root, ret_fault) < 0 ||
		decode_text(root, "metadata.uid", &uid, ret_fault) < 0) {
		return -1;
	}
	if (text_empty(uid)) {
		return fault_set(ret_fault, FAULT_INVALID, "the %s %s has no uid", x->owner.kind,
			x->owner.name);
	}
	x->owner.uid = arena_strdup(a, uid);
	return 0;
}

int create_recommendation_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	ret_draft->method = WIRE_POST;
	ret_draft->path = (struct kube_path){
		.group_version = OUR_API, .ns = x->ns, .resource = "gpurecommendations"};
	ret_draft->content_type = KUBE_JSON;
	struct build b = build_into(&ret_draft->body);
	recommendation_write_new(&b, x->recommendation,
		x->owner.api_version != NULL && x->owner.uid != NULL ? &x->owner : NULL);
	return draft_end(&b, ret_draft, ret_fault);
}

int recommendation_status_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	ret_draft->method = WIRE_PATCH;
	ret_draft->path = (struct kube_path){.group_version = OUR_API,
		.ns = x->ns,
		.resource = "gpurecommendations",
		.name = x->name,
		.subresource = "status"};
	ret_draft->content_type = KUBE_APPLY_PATCH;
	ret_draft->options = KUBE_FORCE;
	struct build b = build_into(&ret_draft->body);
	build_begin_object(&b);
	build_text_at(&b, "apiVersion", OUR_API);
	build_text_at(&b, "kind", "GPURecommendation");
	draft_metadata(&b, x);
	build_text_at(&b, "name", x->name);
	build_text_at(&b, "namespace", x->ns);
	build_end(&b);
	build_key(&b, "status");
	recommendation_write_status(&b, x->recommendation);
	build_end(&b);
	return draft_end(&b, ret_draft, ret_fault);
}

int delete_recommendation_draft(
	const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	if (text_empty(x->uid)) {
		return fault_set(ret_fault, FAULT_INVALID, "a delete needs a uid");
	}
	const struct kube_path path = {.group_version = OUR_API,
		.ns = x->ns,
		.resource = "gpurecommendations",
		.name = x->name};
	return draft_delete(x, &path, 0, ret_draft, ret_fault);
}

static void write_checkpoint(struct build *b, const struct action *x)
{
	build_begin_object(b);
	build_text_at(b, "apiVersion", OUR_API);
	build_text_at(b, "kind", "GPUUsageCheckpoint");
	draft_metadata(b, x);
	build_text_at(b, "name", x->name);
	build_text_at(b, "namespace", x->ns);
	build_end(b);
	build_key(b, "status");
	checkpoint_write_status(b, x->checkpoint);
	build_end(b);
}

int checkpoint_draft(const struct action *x, struct draft *ret_draft, struct fault *ret_fault)
{
	ret_draft->method = x->makes ? WIRE_POST : WIRE_PATCH;
	ret_draft->path = (struct kube_path){.group_version = OUR_API,
		.ns = x->ns,
		.resource = "gpuusagecheckpoints",
		.name = x->makes ? NULL : x->name,
		.subresource = x->makes ? NULL : "status"};
	ret_draft->content_type = x->makes ? KUBE_JSON : KUBE_APPLY_PATCH;
	ret_draft->options = x->makes ? 0 : KUBE_FORCE;
	struct build b = build_into(&ret_draft->body);
	if (x->makes) {
		checkpoint_write_new(&b, x->checkpoint, x->owner_uid);
	} else {
		write_checkpoint(&b, x);
	}
	return draft_end(&b, ret_draft, ret_fault);
}
