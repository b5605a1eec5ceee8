/* A Job (C21), and the owner of a workload. */
#include "read.h"

#include "act_parts.h"
#include "codec/job.h"
#include "codec/standing.h"

bool read_is_all(const struct action *x)
{
	return x->type == ACTION_READ_JOB || x->type == ACTION_READ_OWNER;
}

struct kube_path read_path(const struct action *x, struct arena *a)
{
	if (x->type == ACTION_READ_OWNER) {
		return recommendation_owner_path(x, a);
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

static void take_owner(const struct action *x, const struct kube_answer *answer, struct arena *a,
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

void read_take(const struct action *x, const struct kube_answer *answer, struct arena *a,
	struct read_sight *ret, struct fault *ret_fault)
{
	*ret = (struct read_sight){.spares = false};
	*ret_fault = (struct fault){0};
	if (x->type == ACTION_READ_OWNER) {
		take_owner(x, answer, a, ret, ret_fault);
	} else if (answer->fault.kind == FAULT_NONE) {
		take_job(x, answer, ret, ret_fault);
	} else {
		fault_copy(ret_fault, &answer->fault);
	}
}
