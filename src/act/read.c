/* What answers say of a Job (C21), the owner of a workload, a checkpoint that was there already, a
 * tenant, or the object that a write was meant for. */
#include "read.h"

#include "base/alloc.h"
#include "base/log.h"
#include "own/checkpoint.h"
#include "codec/job.h"
#include "pods/pod_decode.h"
#include "pods/rollout_status.h"
#include "model/names.h"
#include "sizer_draft.h"

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
		return checkpoint_path(x);
	}
	return (struct kube_path){
		.group_version = "batch/v1", .ns = x->ns, .resource = "jobs", .name = x->name};
}

static void read_standing(const struct action *x, const struct kube_answer *answer, struct arena *a,
	struct outcome *ret)
{
	struct standing *s = ARENA_NEW(a, struct standing);
	struct view body = {answer->body, answer->body_size};
	if (answer->fault.kind == FAULT_NONE) {
		bool known = standing_decode(body, x->owner.kind, a, s, &ret->fault) == 0;
		ret->standing = known ? s : NULL;
	} else if (answer->status == 404 && standing_is_absent(body, x->owner.name)) {
		ret->standing = s;
	} else {
		ret->fault = answer->fault;
	}
}

static void read_checkpoint(const struct kube_answer *answer, struct arena *a, struct outcome *ret)
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
	fault_set(&ret->fault, FAULT_CONFLICT, "it is there already");
}

void read_take(const struct action *x, const struct kube_answer *answer, struct arena *a,
	struct outcome *ret)
{
	bool spares = false;
	*ret = (struct outcome){.spares = false};
	if (x->type == ACTION_READ_OWNER) {
		read_standing(x, answer, a, ret);
	} else if (answer->fault.kind != FAULT_NONE) {
		ret->fault = answer->fault;
	} else if (x->type == ACTION_CHECKPOINT) {
		read_checkpoint(answer, a, ret);
	} else {
		bool known = job_decode(answer->body, answer->body_size, x->uid, &spares,
				     &ret->fault) == 0;
		ret->spares = known && spares;
	}
}

bool confirm_waits(const struct kube_answer *answer, const char *uid, struct fault *ret_fault)
{
	CLEANUP(arena_finish) struct arena arena = {0};
	struct pod live;
	if (answer->fault.kind == FAULT_NOT_FOUND) {
		return true;
	}
	*ret_fault = answer->fault;
	if (answer->fault.kind != FAULT_NONE ||
		pod_decode(answer->body, answer->body_size, &arena, &live, ret_fault) != 0) {
		return false;
	}
	/* Another one of that name: who was meant is gone. */
	if (!text_equals(live.uid, uid) || pod_has_gate(&live, NAME_GATE)) {
		return true;
	}
	fault_set(ret_fault, FAULT_CONFLICT, "%s/%s has been told its GPUs", live.ns, live.name);
	return false;
}

void confirm_uid(const struct action *x, struct fault *f)
{
	bool about_uid = strstr(f->message, "metadata.uid") != NULL &&
			 strstr(f->message, "immutable") != NULL;
	if (f->kind == FAULT_INVALID && !text_empty(x->uid) && about_uid) {
		f->kind = FAULT_CONFLICT;
	}
}
