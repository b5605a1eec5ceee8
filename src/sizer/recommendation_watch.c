/* What the watch of GPURecommendations tells: what is written there now, and after a start what was
 * in force before. */
#include "sizer/recommendation_watch.h"

#include <stdlib.h>

#include "base/number.h"
#include "model/mirror.h"

#include "recommendation_status.h"
#include "recommendation_write.h"
#include "sizer_state.h"
#include "tracking/workload_table.h"
#include "workload_life.h"

/* Of a container that nobody knew what is told is what was in force. */
static void take_target(struct sized_workload *x, const struct recommendation *r,
	const struct recommended_container *told)
{
	struct sized_container *c = sized_container_find(x, told->name);
	bool anew = c == NULL;
	c = anew ? sized_container_of(x, told->name) : c;
	if (c == NULL) {
		return;
	}
	if (anew) {
		bool part = told->target.milli > 0 && told->target.milli < MODEL_GPU_MILLI;
		c->in_force = told->target;
		c->converted = part && told->target.mib > 0 && recommendation_holds(r);
	}
	c->told = small_of(told->target.milli, told->target.mib);
}

static void take_recommendation(
	struct sizer *s, struct sized_workload *x, const struct recommendation *r)
{
	if (!text_equals(x->uid, r->uid)) {
		free(x->uid);
		x->uid = xstrdup(r->uid);
	}
	names_set(&s->tracking, &x->policy, r->policy.name);
	x->heal.policy_generation = x->decided ? x->heal.policy_generation : r->policy.generation;
	x->heal.told = r->healing;
	x->heal.leaks = r->conditions[RECOMMENDATION_LEAK_SUSPECTED].status == CONDITION_TRUE;
	x->holds = recommendation_holds(r);
	x->owned = r->owned;
	x->generation = r->generation;
	x->revision = r->revision;
	rollout_restore(&s->rollouts, x, r);
	x->urgent = say_digest(r, true);
	x->all = say_digest(r, false);
	x->said = condition_times_of(r);
	for (size_t i = 0; i < x->containers.count; i++) {
		x->containers.items[i]->told = (struct small_share){0, 0};
	}
	for (uint32_t i = 0; i < r->container_count; i++) {
		take_target(x, r, &r->containers[i]);
	}
}

/* --- the watch --- */

static bool recommendation_set(struct sizer *s, const struct recommendation *r)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
	/* Anybody may write one of another name about a workload of his. */
	if (!text_equals(workload_object_name(&r->target, &arena), r->name)) {
		return true;
	}
	struct sized_workload *x = sized_of(&s->tracking, &r->target);
	if (x == NULL) {
		return false;
	}
	x->row.mark = s->tracking.workloads.mark;
	if (x->seen_ms == 0) { /* after a start: when it was measured last; 0: nobody knows */
		x->seen_ms = r->created_ms;
		for (uint32_t i = 0; i < r->container_count; i++) {
			x->seen_ms = larger_of(x->seen_ms, r->containers[i].usage.last_sample_ms);
		}
	}
	take_recommendation(s, x, r);
	return true;
}

/* The object goes with its owner: nobody will ask for this workload again. */
static void recommendation_gone(struct sizer *s, struct sized_workload *x)
{
	free(x->uid);
	x->uid = NULL;
	x->owned = false;
	x->generation = x->revision = 0;
	x->urgent = x->all = 0;
	x->heal.told = (struct recommended_healing){0};
	x->heal.leaks = false;
	x->said = (struct condition_times){0};
	for (size_t i = 0; i < x->containers.count; i++) {
		x->containers.items[i]->told = (struct small_share){0, 0};
	}
	if (x->pods == 0) {
		workload_remove(s, x);
	} else {
		rollout_drop(&s->rollouts, x);
	}
}

/* A workload stays while it has pods, so that the table sweeps nothing itself. */
bool sizer_observe(struct sizer *s, const struct change *c)
{
	struct table *t = &s->tracking.workloads;
	if (c->type == CHANGE_SET) {
		return recommendation_set(s, c->recommendation);
	}
	if (c->type == CHANGE_GONE) {
		struct sized_workload *x =
			sized_find(&s->tracking, text_or(c->ns, ""), text_or(c->name, ""));
		if (x != NULL && x->uid != NULL) {
			recommendation_gone(s, x);
		}
	} else if (c->type == CHANGE_RELIST_END) {
		s->listed = true;
		for (size_t i = t->rows.count; !c->no_sweep && i-- > 0;) {
			struct sized_workload *x = workload_at(&s->tracking, i);
			if (x->row.mark != t->mark && x->uid != NULL) {
				recommendation_gone(s, x);
			}
		}
	} else {
		mirror_follow(t, c);
	}
	return true;
}
