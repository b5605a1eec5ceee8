/* The way back (C35). A pod that got a recommended share, and that cannot be placed for so long as
 * its policy says although it would run whole, is taken down where another one is made for it and
 * nobody counts it as failed. First the GPURecommendation says that new pods are whole, for
 * whoever admits them reads it there; what stopped it ends by itself (roll/course.c), later each
 * time. Who asked for a share by an annotation is left alone: it is what they asked for. */
#include "give_back.h"

#include "rollouts/roll_record.h"
#include "size/builtin.h"
#include "size/explain.h"
#include "tracking/pod_table.h"

/* Of one workload in one look. They never ran, so nobody is served by fewer. */
#define TOGETHER 16

static const struct world_pod *waiting(const struct decision *d, const struct sized_pod *p)
{
	const struct world_pod *wp = world_pod_by_uid(d->world, p->uid);
	return wp != NULL && wp->gpu != NULL && pods_wait_in_vain(p, wp) ? wp : NULL;
}

/* Some have waited for so long, one after the other, and one of them all the time. */
static bool give_back_is_due(
	const struct sized_workload *x, const struct decision *d, int64_t before_ms)
{
	bool due = false;
	for (const struct sized_pod *p = x->members; p != NULL && !due; p = p->next) {
		const struct world_pod *wp = waiting(d, p);
		due = wp != NULL && wp->gpu->created_ms <= before_ms;
	}
	return due && (int64_t)x->vain_s * 1000 <= before_ms;
}

/* Only as it was judged: it may be placed by then. */
static bool take_down(struct rollouts *s, const struct sized_workload *x,
	const struct world_pod *wp, struct plan *plan)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	CLEANUP(str_finish) struct str text = STR_INIT(512);
	struct pod pod;
	if (!world_pod_unpack(wp, &arena, &pod) || !owner_makes_anew(&pod.owner)) {
		return false;
	}
	explain(&text, REASON_GIVEN_BACK, &(struct explain_facts){.name = NULL});
	const struct eviction eviction = {pod.name, pod.uid, REASON_GIVEN_BACK,
		arena_strdup(&plan->arena, str_text(&text)), true};
	struct action *e = write_eviction(&s->tracking->pace, x, plan, &eviction);
	e->resource_version = arena_strdup(&plan->arena, pod.resource_version);
	return true;
}

void returns_step(
	struct rollouts *s, struct sized_workload *x, const struct decision *d, struct plan *plan)
{
	const struct policy *policy =
		d->choice.policy != NULL ? d->choice.policy : policy_builtin();
	int64_t after_min = policy->rollout.give_back_min;
	if (!x->vain) {
		x->vain_s = 0;
	}
	if (!x->vain || x->uid == NULL || !s->gate.leads || after_min == 0) {
		return;
	}
	bool back = x->roll != NULL && x->roll->roll.paused == ROLL_GIVEN_BACK;
	if (!back && give_back_is_due(x, d, d->now_ms - after_min * 60000) &&
		rollout_give_back(s, x, d)) {
		write_warning(&s->tracking->pace, x, plan, reason_name(REASON_GIVEN_BACK),
			arena_printf(&plan->arena,
				"pods waited for %lld minutes for a share of a GPU that they would "
				"have had whole: new ones are left whole for a while",
				(long long)after_min));
	}
	/* What it says was not written before. */
	if (!back || !rollout_shown(x)) {
		return;
	}
	int sent = 0;
	for (const struct sized_pod *p = x->members; p != NULL && sent < TOGETHER; p = p->next) {
		const struct world_pod *wp = waiting(d, p);
		sent += wp != NULL && take_down(s, x, wp, plan);
	}
}
