/* What one workload should have: its policy, then each container by itself. */
#include "workload_target.h"

#include <stdio.h>

#include "healing/healing.h"
#include "model/framework.h"
#include "owner/kinds.h"
#include "around/around.h"
#include "resize_request.h"
#include "owner/groups.h"
#include "right/cost.h"
#include "right/hold.h"
#include "right/recommend.h"
#include "rollouts/roll_record.h"
#include "size/ask.h"
#include "size/builtin.h"
#include "tracking/workload_table.h"

#define FULL_MILLI MODEL_GPU_MILLI

/* Who is scaled is the owner at the top, which of a group's pods is not the workload. */
static void find_scalers(struct arena *a, const struct sized_workload *x, const struct workload *w,
	struct decision *d)
{
	struct workload_key target = x->key;
	if (d->config->around == NULL) {
		return;
	}
	if (w != NULL && w->top.kind != NULL) {
		target.group = arena_strndup(a, w->top.group.p, w->top.group.n);
		target.kind = w->top.kind;
		target.name = arena_strndup(a, w->top.name.p, w->top.name.n);
	}
	d->resizer = around_scaler(d->config->around, &target);
	d->scaler = around_gpu_scaler(d->config->around, &target, &d->scaler_metric);
}

/* C6: whoever made the pod saw the warning, and that was a ReplicaSet. */
static void look_at_asked_share(
	const struct pod *pod, const struct namespace *ns, struct decision *d)
{
	const struct policy_choice *c = &d->choice;
	struct ask ask = ask_read(pod, ns);
	if (c->policy == NULL || c->excluded || c->mode == MODE_DISABLED) {
		return;
	}
	d->asked = d->granted = (struct share){ask.milli, ask.mem_mib};
	policy_bound_share(c->policy, 0, &d->granted.milli, &d->granted.mib);
}

/* Runs are for what ends by itself. What never does is sized by hours, whatever kind of work its
 * labels or its image say it is: it would wait for a run for good. */
static void mind_runs(const struct sized_workload *x, struct sizing *s)
{
	const struct sizing *usual = &policy_builtin()->sizing;
	const struct owner_row *row =
		owner_row_find(view_of(text_or(x->key.group, "")), x->key.kind);
	bool ends = row == NULL || row->leaves || text_equals(row->kind, WORKLOAD_GROUP_KIND);
	if (ends || s->required_runs == 0 || s->required_s > 0) {
		return;
	}
	s->required_runs = 0;
	s->required_run_s = 0;
	s->required_s = usual->required_s < s->window_s ? usual->required_s : s->window_s;
	if (s->scale_down_delay_s == 0) {
		s->scale_down_delay_s = usual->scale_down_delay_s;
	}
}

/* By the pod that was made last: its template is the one of the next. */
static bool choose_workload_policy(
	struct tracking *s, struct supply *supply, struct sized_workload *x, struct decision *d)
{
	struct pod pod, anew;
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
	workload_of(s->config.groups, s->config.owners, &pod, &s->scratch, &w);
	policy_subject_in(&who, &w);
	x->type = (uint8_t)w.type;
	x->retention_s = w.retention_s;
	devices_unpin(&pod, &s->scratch, &anew);
	x->device_mib = to_int32(devices_for(&supply->devices, d->world, &anew));
	find_scalers(&s->scratch, x, &w, d);
	struct policy_set set;
	set.items = world_policies(d->world, &set.count);
	d->choice = policy_choose(&set, &who);
	snprintf(d->missing, sizeof d->missing, "%s", text_or(d->choice.missing, ""));
	mind_runs(x, &d->choice.sizing);
	look_at_asked_share(&pod, who.ns, d);
	return true;
}

/* Between two pods it is what the next one will be told. */
static int64_t told_mib(struct sized_container *c)
{
	const struct heal_tally *t = &c->tally.heal;
	c->fills = t->tenants > 0 ? t->told : c->fills && c->converted;
	int64_t mib = t->tenants > 0 ? t->granted.mib : c->in_force.mib;
	return c->fills ? mib : 0;
}

static struct recommend_answer recommend(const struct sized_workload *x, struct sized_container *c,
	const struct decision *d, const struct history_facts *facts)
{
	const struct pod_tally *t = &c->tally;
	struct recommend_answer answer;
	struct recommend_ask ask = {
		.sizing = &d->choice.sizing,
		.history = c->history,
		.facts = *facts,
		.now_ms = d->now_ms,
		.device_mib = x->device_mib,
		.prealloc = {.memory_class =
				     (enum memory_class)history_kept(c->history)->memory_class,
			.owns_device = t->whole,
			.allocated_mib = t->whole ? 0 : t->allocated.mib,
			.told_mib = told_mib(c),
			.part_percent = pools_part(c->history, d->now_ms)},
	};
	recommend_share(&ask, &answer);
	return answer;
}

/* Of a workload that is whole yet: what is shown. While too little is known it is what is known;
 * it is not applied. While it has to wait it is nothing, for what is shown then is applied. */
static struct share shown_whole(
	const struct share *all, const struct share *wanted, enum hold_why why)
{
	if (why == HOLD_LEARNING) {
		return *wanted;
	}
	bool stays = why == HOLD_SAME || why == HOLD_SMALL;
	return stays ? (struct share){FULL_MILLI, all->mib > 0 ? all->mib : wanted->mib}
		     : (struct share){0, 0};
}

/* Its conversion was undone, and is not tried again yet. */
static bool is_undone(struct sized_container *c, int64_t now_ms)
{
	if (c->converted || healing_of(c)->state.compute.value < FULL_MILLI) {
		return false;
	}
	if (now_ms >= healing_blocked_ms(c)) {
		struct heal *h = &healing_touch(c)->state;
		*h = (struct heal){.rolled_ms = h->rolled_ms};
		return false;
	}
	return true;
}

/* What is looked at after the decision. */
static void keep_decision(struct sized_container *c, const struct history_facts *facts,
	const struct recommend_answer *a, const struct hold_answer *held)
{
	c->facts = (struct kept_history){facts->first_ms, facts->last_ms, facts->samples,
		facts->quiet_minutes,
		(uint16_t)(facts->runs < UINT16_MAX ? facts->runs : UINT16_MAX),
		(uint8_t)facts->state, (uint8_t)facts->coverage_percent};
	c->answer = (struct kept_recommendation){
		.uncapped = small_of(a->uncapped.milli, a->uncapped.mib),
		.lower = small_of(a->lower.milli, a->lower.mib),
		.upper = small_of(a->upper.milli, a->upper.mib),
		.last_sample_ms = a->usage.last_sample_ms,
		.peak_mib = to_int32(a->usage.peak_mib),
		.p50_percent = a->usage.p50_percent,
		.target_percent = a->usage.target_percent,
		.capped_by = (uint8_t)recommend_capped(a),
		.memory_by = (uint8_t)a->memory_by,
		.compute_known = a->usage.compute_known,
		.memory_known = a->usage.memory_known,
	};
	c->held_compute = held->compute;
	c->held_memory = held->memory;
}

static void decide_container(const struct supply *supply, struct sized_workload *x,
	struct sized_container *c, struct decision *d)
{
	const struct sizing *sizing = &d->choice.sizing;
	const struct share base = healing_base(x, c, sizing);
	/* The GPU that its pods have, as far as that is known. */
	int64_t has_mib = c->tally.whole ? c->tally.original.mib : 0;
	const struct share all = {
		FULL_MILLI, has_mib > 0 ? has_mib : devices_largest(&supply->devices)};
	const struct share before = c->converted ? c->in_force : all;
	history_fit(c->history, sizing, d->now_ms);
	c->fitted = true;
	struct history_facts facts =
		history_judge(c->history, sizing, d->now_ms, c->tally.running > 0);
	if (d->unread && facts.state == HISTORY_SUFFICIENT) {
		facts.state = HISTORY_LEARNING; /* there is more, which was not read yet */
	}
	const struct recommend_answer answer = recommend(x, c, d, &facts);
	struct hold_answer held = {.target = base};
	struct hold_ask ask = {
		.sizing = sizing,
		.facts = facts,
		.current = c->converted ? base : (struct share){0, 0},
		.whole = !c->converted,
		.wanted = answer.target,
		.keeps_compute = d->scaler != NULL,
		.blocked_ms = healing_blocked_ms(c),
		.now_ms = d->now_ms,
	};
	if (!rollout_hold(x)) {
		hold_step(&ask, history_kept(c->history), &held);
	}
	keep_decision(c, &facts, &answer, &held);
	if (rollout_hold(x) && !c->converted) {
		return;
	}
	bool undone = is_undone(c, d->now_ms);
	if (c->converted || held.changes || undone) {
		c->converted = !undone;
		c->in_force = healing_step(x, c, d, &held.target);
		healing_shrunk(c, &before, d->now_ms); /* what we took away, and not a person */
		/* A person's bounds hold at once, for they are no saving: admission and the engine
		 * give no share beyond them, and a share that no pod can have would be asked for
		 * for ever. */
		int64_t context = d->config->admission.context_mib;
		if (c->converted) {
			policy_bound_share(d->choice.policy,
				c->fills ? framework_least_mib(context) : context,
				&c->in_force.milli, &c->in_force.mib);
		}
	} else {
		c->in_force = shown_whole(&all, &answer.target, held.compute.why);
	}
}

/* Without a pod what was decided last holds, as long as this process remembers it. */
static bool choose_again(struct sized_workload *x, struct decision *d)
{
	const struct policy *p = x->policy != NULL ? world_policy_find(d->world, x->policy) : NULL;
	if (!x->decided || x->pods > 0 || x->policy == NULL) {
		return false;
	}
	d->choice =
		(struct policy_choice){.policy = p != NULL ? p : policy_builtin_named(x->policy),
			.source = (enum policy_source)x->source,
			.mode = (enum policy_mode)x->mode,
			.excluded = x->excluded};
	if (d->choice.policy != NULL) {
		d->choice.sizing = policy_sizing(d->choice.policy, (enum workload_type)x->type);
		mind_runs(x, &d->choice.sizing);
	}
	for (size_t i = 0; i < x->containers.count; i++) {
		x->containers.items[i]->tally = (struct pod_tally){0};
	}
	resize_counts_clear(x);
	x->multi = x->parted = false;
	return d->choice.policy != NULL;
}

/* All that runs of it. */
static bool is_idle(const struct sized_workload *x, int64_t now_ms)
{
	bool any = false;
	for (size_t i = 0; i < x->containers.count; i++) {
		const struct sized_container *c = x->containers.items[i];
		if (c->tally.running == 0) {
			continue;
		}
		const struct history_facts facts = {
			.last_ms = c->facts.last_ms, .quiet_minutes = c->facts.quiet_minutes};
		if (!cost_is_idle(&facts, now_ms)) {
			return false;
		}
		any = true;
	}
	return any;
}

bool decide_workload(
	struct tracking *s, struct supply *supply, struct sized_workload *x, struct decision *d)
{
	const struct policy_choice *choice = &d->choice;
	if (choose_workload_policy(s, supply, x, d)) {
		healing_policy(x, choice);
		names_set(s, &x->policy, choice->policy != NULL ? choice->policy->name : NULL);
		x->decided = true;
		x->mode = (uint8_t)choice->mode;
		x->source = (uint8_t)choice->source;
		x->excluded = choice->excluded;
	} else if (!choose_again(x, d)) {
		return false;
	} else {
		find_scalers(&s->scratch, x, NULL, d);
	}
	x->keeps_compute = d->scaler != NULL;
	x->heal.paused = x->heals = false;
	for (size_t i = 0; i < x->containers.count && d->choice.policy != NULL; i++) {
		decide_container(supply, x, x->containers.items[i], d);
		x->heals = x->heals || healing_of(x->containers.items[i])->answer.healing;
	}
	x->idle = is_idle(x, d->now_ms);
	const struct policy *p = choice->policy;
	x->acts = p != NULL && choice->mode == MODE_AUTOMATE && !choice->excluded && !x->multi &&
		  !policy_never_sizes(p, x->key.kind);
	x->keeps_running = p != NULL && choice->sizing.keeps_running;
	return true;
}
