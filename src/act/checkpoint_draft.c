/* GPUUsageCheckpoints: made once, in two writes, for a status cannot be made with its object; then
 * written by one. */
#include "codec/checkpoint.h"
#include "act_parts.h"
#include "model/names.h"

#define OUR_API NAME_GROUP "/" NAME_VERSION

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
