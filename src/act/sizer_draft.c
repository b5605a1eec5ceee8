/* What the sizer writes: GPURecommendations and GPUUsageCheckpoints. A recommendation is made with
 * its owner, so that it goes when the workload goes; the owner is read first where a pod does not
 * tell its uid. The status is ours alone and is applied as a whole. */
#include "sizer_draft.h"

#include "own/checkpoint.h"
#include "own/gpurecommendation.h"
#include "json/decode.h"
#include "model/names.h"

#define OUR_API		NAME_GROUP "/" NAME_VERSION
#define RECOMMENDATIONS "gpurecommendations"
#define CHECKPOINTS	"gpuusagecheckpoints"
#define PLURAL_MAX	64

bool recommendation_reads_owner(const struct action *x)
{
	return x->type == ACTION_CREATE_RECOMMENDATION && x->owner.api_version != NULL &&
	       x->owner.uid == NULL;
}

struct kube_path recommendation_owner_path(const struct action *x, struct arena *a)
{
	/* The resource, of the kinds that the sizer names: the kind in lower case and an s. */
	char *resource = arena_printf(a, "%.*ss", PLURAL_MAX, x->owner.kind);
	for (char *c = resource; *c != '\0'; c++) {
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	}
	return (struct kube_path){.group_version = x->owner.api_version,
		.ns = x->ns,
		.resource = resource,
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

static struct kube_path our_path(
	const struct action *x, const char *resource, const char *name, const char *subresource)
{
	return (struct kube_path){.group_version = OUR_API,
		.ns = x->ns,
		.resource = resource,
		.name = name,
		.subresource = subresource};
}

int create_recommendation_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	const struct kube_path path = our_path(x, RECOMMENDATIONS, NULL, NULL);
	const bool owned = x->owner.api_version != NULL && x->owner.uid != NULL;
	struct build b = draft_request(d, WIRE_POST, KUBE_JSON, &path);
	recommendation_write_new(&b, x->recommendation, owned ? &x->owner : NULL);
	return draft_end(&b, ret_fault);
}

/* A status, applied as a whole: begun up to its value. */
static struct build apply_status(
	const struct action *x, const char *kind, const char *resource, struct draft *d)
{
	const struct kube_path path = our_path(x, resource, x->name, "status");
	struct build b = draft_begin(d, WIRE_PATCH, KUBE_APPLY_PATCH, &path);
	d->write.options = KUBE_FORCE;
	build_text_at(&b, "apiVersion", OUR_API);
	build_text_at(&b, "kind", kind);
	draft_identity(&b, "metadata", x);
	draft_name(&b, x);
	build_end(&b);
	build_key(&b, "status");
	return b;
}

int recommendation_status_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	struct build b = apply_status(x, "GPURecommendation", RECOMMENDATIONS, d);
	recommendation_write_status(&b, x->recommendation);
	return draft_end(&b, ret_fault);
}

int delete_recommendation_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	const struct kube_path path = our_path(x, RECOMMENDATIONS, x->name, NULL);
	if (text_empty(x->uid)) {
		return fault_set(ret_fault, FAULT_INVALID, "a delete needs a uid");
	}
	return draft_delete(x, &path, 0, d, ret_fault);
}

struct kube_path checkpoint_path(const struct action *x)
{
	return our_path(x, CHECKPOINTS, x->name, NULL);
}

int checkpoint_draft(const struct action *x, struct draft *d, struct fault *ret_fault)
{
	struct build b;
	if (x->makes) {
		const struct kube_path path = our_path(x, CHECKPOINTS, NULL, NULL);
		b = draft_request(d, WIRE_POST, KUBE_JSON, &path);
		checkpoint_write_new(&b, x->checkpoint, x->owner_uid);
	} else {
		b = apply_status(x, "GPUUsageCheckpoint", CHECKPOINTS, d);
		checkpoint_write_status(&b, x->checkpoint);
	}
	return draft_end(&b, ret_fault);
}
