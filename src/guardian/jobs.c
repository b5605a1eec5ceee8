/* When a Job is read, and what it said. */
#include "guardian/jobs.h"

#include <stdlib.h>

#include "guardian/evict.h"
#include "ledger/ledger.h"

#define FIRST_MS 2000
#define CAP_MS	 60000

bool job_owns(const struct pod *pod)
{
	return text_equals(pod->owner.api_version, "batch/v1") &&
	       text_equals(pod->owner.kind, "Job") && !text_empty(pod->owner.name) &&
	       !text_empty(pod->owner.uid);
}

static struct job *touch(struct evictions *evictions, const char *uid)
{
	struct jobs *all = &evictions->jobs;
	vec_for_each (struct job, j, all) {
		if (strcmp(j->uid, uid) == 0) {
			return j;
		}
	}
	struct job made = {
		.uid = xstrdup(uid), .backoff = {.first_ms = FIRST_MS, .cap_ms = CAP_MS}};
	VEC_PUSH(all, made);
	return &all->items[all->count - 1];
}

enum job_says job_ask(struct evictions *evictions, const struct pod *pod, struct emitter *out)
{
	struct job *j = touch(evictions, pod->owner.uid);
	j->seen = evictions->picture->time->step;
	bool known = j->says == JOB_SPARES || j->says == JOB_COUNTS;
	if (known || j->flight != 0) {
		return j->says;
	}
	if (evictions->picture->time->now < j->retry_at) {
		wake_by(evictions->picture->time, j->retry_at);
		return j->says;
	}
	struct action *a = emit(out, ACTION_READ_JOB);
	a->ns = arena_strdup(&out->plan->arena, pod->ns);
	a->name = arena_strdup(&out->plan->arena, pod->owner.name);
	a->uid = arena_strdup(&out->plan->arena, pod->owner.uid);
	j->flight = a->id;
	return j->says;
}

void job_settle(struct evictions *evictions, int64_t now, uint64_t id, const struct outcome *o)
{
	vec_for_each (struct job, j, &evictions->jobs) {
		if (j->flight != id) {
			continue;
		}
		j->flight = 0;
		j->says = o->spares ? JOB_SPARES : JOB_COUNTS;
		if (o->fault.kind != FAULT_NONE) {
			j->says = JOB_UNREAD;
			j->retry_at =
				now + backoff_next(&j->backoff, evictions->picture->book->rng);
		}
	}
}

static void remove_at(struct jobs *all, size_t i)
{
	free(all->items[i].uid);
	VEC_REMOVE_SWAP(all, i);
}

void jobs_sweep(struct evictions *evictions)
{
	struct jobs *all = &evictions->jobs;
	for (size_t i = all->count; i-- > 0;) {
		if (all->items[i].seen != evictions->picture->time->step) {
			remove_at(all, i);
		}
	}
}

void jobs_forget(struct jobs *all)
{
	while (all->count > 0) {
		remove_at(all, all->count - 1);
	}
}

void jobs_finish(struct jobs *all)
{
	jobs_forget(all);
	VEC_FINISH(all);
}
