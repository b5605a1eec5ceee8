/* What the watch of GPURecommendations tells: what is written there now, and after a start what was
 * in force before. */
#include "sizer/recommendation_watch.h"

#include <stdlib.h>

#include "recommendation_status.h"
#include "recommendation_write.h"
#include "sizer_state.h"
#include "tracking/workload_table.h"
#include "workload_life.h"

static void set_text(char **slot, const char *text)
{
	if (!text_equals(*slot, text)) {
		free(*slot);
		*slot = xstrdup(text);
	}
}

/* A container that nobody knew: what is told of it is what was in force. */
static void restore(struct sized_workload *x, const struct recommendation *r,
	const struct recommended_container *told)
{
	struct sized_container *c = sized_container_of(x, told->name);
	if (c == NULL) {
		return;
	}
	bool part = told->target.milli > 0 && told->target.milli < MODEL_GPU_MILLI;
	c->in_force = told->target;
	c->converted = part && told->target.mib > 0 && recommendation_holds(r);
}

static void told_set(struct sizer *s, struct sized_workload *x, const struct recommendation *r)
{
	set_text(&x->uid, r->uid);
	names_set(&s->tracking, &x->policy, r->policy.name);
	x->heal.policy_generation = x->decided ? x->heal.policy_generation : r->policy.generation;
	x->heal.told = r->healing;
	x->heal.leaks = r->conditions[RECOMMENDATION_LEAK_SUSPECTED].status == CONDITION_TRUE;
	x->holds = recommendation_holds(r);
	x->owned = r->owned;
	x->generation = r->generation;
	x->revision = r->revision;
	rollout_told(&s->rollouts, x, r);
	x->urgent = say_digest(r, true);
	x->all = say_digest(r, false);
	x->said = condition_times_of(r);
	for (size_t i = 0; i < x->containers.count; i++) {
		x->containers.items[i]->told = (struct small_share){0, 0};
	}
	for (uint32_t i = 0; i < r->container_count; i++) {
		const struct recommended_container *told = &r->containers[i];
		if (sized_container_find(x, told->name) == NULL) {
			restore(x, r, told);
		}
		struct sized_container *c = sized_container_find(x, told->name);
		if (c != NULL) {
			c->told = small_of(told->target.milli, told->target.mib);
		}
	}
}

/* --- the watch --- */

/* After a start: when it was measured last; 0: nobody knows. */
static int64_t last_heard(const struct recommendation *r)
{
	int64_t last = r->created_ms;
	for (uint32_t i = 0; i < r->container_count; i++) {
		int64_t one = r->containers[i].usage.last_sample_ms;
		last = one > last ? one : last;
	}
	return last;
}

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
	x->mark = s->tracking.mark;
	if (x->seen_ms == 0) {
		x->seen_ms = last_heard(r);
	}
	told_set(s, x, r);
	return true;
}

static void recommendation_gone(struct sized_workload *x)
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
}

/* The object goes with its owner: nobody will ask for this workload again. */
static void gone_at(struct sizer *s, struct sized_workload *x)
{
	recommendation_gone(x);
	if (x->pods == 0) {
		workload_remove(s, x);
	} else {
		rollout_drop(&s->rollouts, x);
	}
}

static void recommendation_keep(struct sizer *s, const char *ns, const char *name)
{
	struct sized_workload *x =
		name != NULL ? sized_find(&s->tracking, text_or(ns, ""), name) : NULL;
	for (size_t i = 0; name == NULL && i < s->tracking.workloads.count; i++) {
		s->tracking.workloads.items[i]->mark = s->tracking.mark;
	}
	if (x != NULL) {
		x->mark = s->tracking.mark;
	}
}

static void end_list(struct sizer *s, bool sweep)
{
	s->listed = true;
	for (size_t i = s->tracking.workloads.count; sweep && i-- > 0;) {
		struct sized_workload *x = s->tracking.workloads.items[i];
		if (x->mark != s->tracking.mark && x->uid != NULL) {
			gone_at(s, x);
		}
	}
}

bool sizer_observe(struct sizer *s, const struct change *c)
{
	struct sized_workload *x = NULL;
	switch (c->type) {
	case CHANGE_SET:
		return recommendation_set(s, c->recommendation);
	case CHANGE_GONE:
		x = sized_find(&s->tracking, text_or(c->ns, ""), text_or(c->name, ""));
		if (x != NULL && x->uid != NULL) {
			gone_at(s, x);
		}
		return true;
	case CHANGE_KEEP:
		recommendation_keep(s, c->ns, c->name);
		return true;
	case CHANGE_RELIST_BEGIN:
		s->tracking.mark++;
		return true;
	case CHANGE_RELIST_END:
		end_list(s, !c->no_sweep);
		return true;
	case CHANGE_STALE:
	case CHANGE_FRESH:
	case CHANGE_LEADER:
	case CHANGE_REACH:
	case CHANGE_SHARE:
	case CHANGE_SHUN:
	case CHANGE_HEARD:
	case CHANGE_RUNTIME:
		return true;
	}
	BUG("not a change");
}
