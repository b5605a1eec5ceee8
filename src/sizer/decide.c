/* What one workload should have: its policy, then each container by itself. */
#include <stdlib.h>

#include "state.h"

#define FULL_MILLI MODEL_GPU_MILLI

/* By the pod that was made last: its template is the one of the next. */
static bool choose(struct sizer *s, struct sized *x, struct decision *d)
{
	struct pod pod;
	struct workload w;
	const struct world_pod *wp =
		x->newest != NULL ? world_pod_by_uid(d->world, x->newest->uid) : NULL;
	arena_reset(&s->scratch);
	if (wp == NULL || !world_pod_unpack(wp, &s->scratch, &pod)) {
		return false;
	}
	const struct world_namespace *n = world_namespace_find(d->world, x->key.ns);
	struct policy_subject who =
		policy_subject_of(&pod, n != NULL && n->known ? &n->noun : NULL);
	workload_of(s->config.groups, NULL, &pod, &s->scratch, &w);
	who.owner = w.top;
	who.type = w.type;
	who.group_policy = w.policy;
	x->type = w.type;
	x->retention_s = w.retention_s;
	struct policy_set set;
	set.items = world_policies(d->world, &set.count);
	d->choice = policy_choose(&set, &who);
	return true;
}

static struct recommend_answer recommend(
	const struct sizer *s, struct sized_container *c, const struct decision *d)
{
	const struct sized_tally *t = &c->tally;
	struct recommend_answer answer;
	struct recommend_ask ask = {
		.sizing = &d->choice.policy->sizing,
		.history = c->history,
		.facts = c->facts,
		.now_ms = d->now_ms,
		.device_mib = s->device_mib,
		.prealloc = {.memory_class =
				     (enum memory_class)history_kept(c->history)->memory_class,
			.owns_device = t->whole,
			.allocated_mib = t->whole ? 0 : t->allocated.mib,
			.kv_pool_mib = METERED_ABSENT},
	};
	recommend_share(&ask, &answer);
	return answer;
}

/* Of a workload that is whole yet: what is shown. While too little is known it is what is known;
 * it is not applied. While it has to wait it is nothing, for what is shown then is applied. */
static struct share shown_whole(const struct sizer *s, const struct sized_container *c)
{
	static const struct share nothing = {0, 0};
	const struct share *wanted = &c->answer.target;
	switch (c->held.compute.why) {
	case HOLD_LEARNING:
		return *wanted;
	case HOLD_SAME:
	case HOLD_SMALL:
		return (struct share){FULL_MILLI, s->device_mib > 0 ? s->device_mib : wanted->mib};
	case HOLD_CONVERTS:
	case HOLD_GROWS:
	case HOLD_SHRINKS:
	case HOLD_UNKNOWN:
	case HOLD_STALE:
	case HOLD_DELAY:
	case HOLD_HEALING:
	case HOLD_ACTIVE:
	case HOLD_WHYS:
		break;
	}
	return nothing;
}

static void decide_container(const struct sizer *s, struct sized_container *c, struct decision *d)
{
	const struct sizing *sizing = &d->choice.policy->sizing;
	history_fit(c->history, sizing, d->now_ms);
	c->fitted = true;
	c->facts = history_judge(c->history, sizing, d->now_ms, c->tally.running > 0);
	c->answer = recommend(s, c, d);
	struct hold_ask ask = {
		.sizing = sizing,
		.facts = c->facts,
		.current = c->converted ? c->in_force : (struct share){0, 0},
		.whole = !c->converted,
		.wanted = c->answer.target,
		.now_ms = d->now_ms,
	};
	hold_step(&ask, history_kept(c->history), &c->held);
	if (c->converted || c->held.changes) {
		c->converted = true;
		c->in_force = c->held.target;
	} else {
		c->in_force = shown_whole(s, c);
	}
}

static void remember(struct sized *x, const struct policy_choice *choice)
{
	const char *name = choice->policy != NULL ? choice->policy->name : NULL;
	if (!text_equals(x->policy, name)) {
		free(x->policy);
		x->policy = xstrdup(name);
	}
	x->decided = true;
	x->mode = choice->mode;
	x->source = choice->source;
	x->excluded = choice->excluded;
}

/* Without a pod what was decided last holds, as long as this process remembers it. */
static bool choose_again(struct sized *x, struct decision *d)
{
	const struct policy *p = x->policy != NULL ? world_policy_find(d->world, x->policy) : NULL;
	if (!x->decided || x->pods > 0 || x->policy == NULL) {
		return false;
	}
	d->choice =
		(struct policy_choice){.policy = p != NULL ? p : policy_builtin_named(x->policy),
			.source = x->source,
			.mode = x->mode,
			.excluded = x->excluded};
	for (size_t i = 0; i < x->containers.count; i++) {
		x->containers.items[i]->tally = (struct sized_tally){0};
	}
	x->multi = 0;
	return d->choice.policy != NULL;
}

bool decide_workload(struct sizer *s, struct sized *x, struct decision *d)
{
	if (choose(s, x, d)) {
		remember(x, &d->choice);
	} else if (!choose_again(x, d)) {
		return false;
	}
	for (size_t i = 0; i < x->containers.count && d->choice.policy != NULL; i++) {
		decide_container(s, x->containers.items[i], d);
	}
	wish_decide(x, d);
	return true;
}
