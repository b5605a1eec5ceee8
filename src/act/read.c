/* A Job (C21), the owner of a workload, and a checkpoint that was there already. */
#include "read.h"

#include "act_parts.h"
#include "base/log.h"
#include "codec/checkpoint.h"
#include "codec/job.h"
#include "codec/rollout_status.h"
#include "model/names.h"

bool read_is_all(const struct action *x)
{
	return x->type == ACTION_READ_JOB || x->type == ACTION_READ_OWNER;
}

struct kube_path read_path(const struct action *x, struct arena *a)
{
	if (x->type == ACTION_READ_OWNER) {
		return recommendation_owner_path(x, a);
	}
	if (x->type == ACTION_CHECKPOINT) {
		return (struct kube_path){.group_version = NAME_GROUP "/" NAME_VERSION,
			.ns = x->ns,
			.resource = "gpuusagecheckpoints",
			.name = x->name};
	}
	return (struct kube_path){
		.group_version = "batch/v1", .ns = x->ns, .resource = "jobs", .name = x->name};
}

static void take_job(const struct action *x, const struct kube_answer *answer,
	struct read_sight *ret, struct fault *ret_fault)
{
	bool spares = false;
	if (job_decode(answer->body, answer->body_size, x->uid, &spares, ret_fault) == 0) {
		ret->spares = spares;
	}
}

static void read_standing(const struct action *x, const struct kube_answer *answer, struct arena *a,
	struct read_sight *ret, struct fault *ret_fault)
{
	struct standing *s = ARENA_NEW(a, struct standing);
	struct view body = {answer->body, answer->body_size};
	if (answer->fault.kind == FAULT_NONE) {
		ret->standing =
			standing_decode(body, x->owner.kind, a, s, ret_fault) == 0 ? s : NULL;
	} else if (answer->status == 404 && standing_is_absent(body, x->owner.name)) {
		ret->standing = s;
	} else {
		fault_copy(ret_fault, &answer->fault);
	}
}

static void take_checkpoint(const struct kube_answer *answer, struct arena *a,
	struct read_sight *ret, struct fault *ret_fault)
{
	struct checkpoint *c = ARENA_NEW(a, struct checkpoint);
	struct fault fault = {0};
	ret->exists = true;
	if (checkpoint_decode(answer->body, answer->body_size, a, c, &fault) == 0) {
		ret->found = c;
	} else {
		log_warn(
			"a checkpoint cannot be read, what it holds is learnt anew", LOG_F(&fault));
	}
	fault_set(ret_fault, FAULT_CONFLICT, "it is there already");
}

void read_take(const struct action *x, const struct kube_answer *answer, struct arena *a,
	struct read_sight *ret, struct fault *ret_fault)
{
	*ret = (struct read_sight){.spares = false};
	*ret_fault = (struct fault){0};
	if (x->type == ACTION_READ_OWNER) {
		read_standing(x, answer, a, ret, ret_fault);
	} else if (answer->fault.kind == FAULT_NONE && x->type == ACTION_CHECKPOINT) {
		take_checkpoint(answer, a, ret, ret_fault);
	} else if (answer->fault.kind == FAULT_NONE) {
		take_job(x, answer, ret, ret_fault);
	} else {
		fault_copy(ret_fault, &answer->fault);
	}
}
