/* Once a round: is a pod of this workload replaced, and what became of the one before. */
#include "rollouts/rollouts.h"

#include "rollout_input.h"
#include "model/quantity.h"
#include "give_back.h"
#include "owner/kinds.h"
#include "roll/course.h"
#include "roll/rollout_explain.h"
#include "roll/rollout_plan.h"

/* What was read of an owner holds for so long, where a pod goes and where none does. */
#define OWNER_MS       30000
#define OWNER_AGAIN_MS 120000
/* Of asking about one workload, beside its pods. */
#define ASK_UNITS 16

void rollouts_init(struct rollouts *s, struct tracking *tracking, struct supply *supply,
	struct heal_alarms *alarms)
{
	*s = (struct rollouts){.tracking = tracking, .supply = supply, .alarms = alarms};
}

void rollouts_finish(struct rollouts *s)
{
	surges_finish(s);
	moves_finish(&s->moves);
	roll_fleet_finish(&s->fleet);
}

void rollouts_gate(struct rollouts *s, const struct roll_gate *gate)
{
	for (size_t i = 0; s->gate.leads && !gate->leads && i < s->tracking->workloads.rows.count;
		i++) {
		rollout_forget(s, workload_at(s->tracking, i));
	}
	if (s->gate.leads && !gate->leads) {
		surges_drop(s, NULL);
	}
	s->gate = *gate;
}

/* --- what is told --- */

/* One workload, asked once. */
struct rollout_turn {
	struct rollouts *s;
	struct sized_workload *x;
	struct decision *d;
	struct plan *plan;
	struct rollout_input asked;
};

static void rollout_event(const struct rollout_turn *t, const char *reason, const char *message)
{
	write_event(&t->s->tracking->pace, t->x, t->plan, reason, message);
}

static void rollout_warning(const struct rollout_turn *t, const char *reason, const char *message)
{
	write_warning(&t->s->tracking->pace, t->x, t->plan, reason, message);
}

/* In its status as long as it is so, what stopped it also where every pod has the target; as an
 * event once for each target and cause. */
static void report_blocked(struct rollout_turn *t, const struct roll_verdict *v)
{
	struct rollout_record *m = t->x->roll;
	uint64_t bit = UINT64_C(1) << v->why;
	const char *text = roll_explain(&t->asked.ask, v, &t->plan->arena);
	bool stopped = m->roll.paused == v->why;
	if (t->asked.outdated > 0 || stopped) {
		t->d->blocked = roll_why_name(v->why);
		t->d->blocker = text;
	}
	if (stopped) {
		t->d->paused = text;
	}
	if (t->asked.outdated == 0) {
		return;
	}
	if (m->told_revision != t->x->revision) {
		m->told_revision = t->x->revision;
		m->told_whys = 0;
	}
	if ((m->told_whys & bit) == 0) {
		m->told_whys |= bit;
		rollout_event(t, "UpdateBlocked", text);
	}
}

/* --- how it went on --- */

static void follow_up(const struct rollout_turn *t, const struct roll *before)
{
	struct rollout_record *m = t->x->roll;
	const struct roll *r = &m->roll;
	int64_t now = t->d->now_ms;
	bool ended = before->doing == ROLL_EVICT && r->doing == ROLL_NOTHING;
	if (r->no_effect > before->no_effect) {
		rollout_set_update(t->s, m, UPDATE_FAILED, now, roll_why_name(ROLL_WITHOUT_EFFECT));
		rollout_warning(t, "ReplacementFailed", "the new pod came without a share");
	} else if (r->failures > before->failures || r->refusals > before->refusals) {
		rollout_set_update(t->s, m, UPDATE_FAILED, now, "NotReady");
		rollout_warning(t, "ReplacementFailed", "the new pod does not become Ready");
	} else if (ended && r->succeeded) {
		rollout_set_update(t->s, m, UPDATE_SUCCEEDED, now, "PodReplaced");
		rollout_event(t, "PodReplaced", "a pod was replaced by one with the new share");
	}
	if (r->paused != ROLL_UP_TO_DATE && before->paused == ROLL_UP_TO_DATE) {
		rollout_warning(t, "AutomationPaused",
			arena_printf(&t->plan->arena, "no pod of it is replaced any more: %s",
				roll_why_name(r->paused)));
	}
}

/* A person who changes the policy has seen what stopped it. */
static void resume(struct rollout_record *m, const struct decision *d)
{
	if (d->choice.policy == NULL) {
		return; /* nobody knows it now: the pod that tells is gone */
	}
	int64_t parts[] = {d->choice.policy->generation, d->choice.mode, d->choice.excluded};
	uint64_t name = hash_text(text_or(d->choice.policy->name, ""));
	uint64_t now = hash_bytes(parts, sizeof parts, name) | 1;
	if (m->roll.paused == ROLL_UP_TO_DATE) {
		m->stopped_under = 0;
	} else if (m->stopped_under == 0) {
		m->stopped_under = now;
	} else if (m->stopped_under != now && !m->roll.rolls_back) {
		roll_resume(&m->roll);
		m->stopped_under = 0;
	}
}

/* --- what is done --- */

/* Who was not Ready may be by the time that the write is there, and is then another case. */
static const char *pod_resource_version(const struct rollout_turn *t, const char *uid)
{
	struct pod pod;
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct world_pod *wp = world_pod_by_uid(t->d->world, uid);
	bool known = wp != NULL && world_pod_unpack(wp, &arena, &pod);
	return known ? arena_strdup(&t->plan->arena, pod.resource_version) : NULL;
}

static void evict_pod(const struct rollout_turn *t, uint32_t at, const char *has)
{
	char memory[QUANTITY_TEXT_MAX];
	const struct roll_pod *p = &t->asked.ask.pods[at];
	const struct share *want = &t->asked.members[at]->feeds[0].container->in_force;
	const char *why = arena_printf(&t->plan->arena,
		"pod %s is evicted so that the next one gets %lld%% of a GPU and %s%s (%s@%lld); "
		"it has %s",
		p->name, (long long)((want->milli + 5) / 10), memory_format(want->mib, memory),
		t->asked.ask.cause == ROLL_MOVES ? " on another GPU" : "", t->x->row.name,
		(long long)t->x->revision, has);
	rollout_event(t, "UpdateStarted", why);
	const struct sizer_admission *port = &t->s->tracking->config.admission;
	if (port->replaced != NULL) {
		port->replaced(port->data);
	}
	const struct eviction eviction = {p->name, p->uid, REASON_RIGHTSIZED, why, false};
	struct action *e = write_eviction(&t->s->tracking->pace, t->x, t->plan, &eviction);
	t->x->roll->eviction = e->id;
	t->x->roll->as_judged = p->ready_ms == 0;
	if (t->x->roll->as_judged) {
		e->resource_version = pod_resource_version(t, p->uid);
	}
}

/* The share before is the target again. Where nobody knows it, or it was whole, the next pod is. */
static void restore_former_targets(const struct rollout_turn *t)
{
	for (size_t i = 0; i < t->x->containers.count; i++) {
		struct sized_container *c = t->x->containers.items[i];
		c->converted = c->before.milli > 0 && c->before.milli < MODEL_GPU_MILLI;
		c->in_force = c->converted ? share_widened(c->before)
					   : (struct share){MODEL_GPU_MILLI, t->x->device_mib};
		rollout_end_healing(c);
	}
	rollout_set_update(
		t->s, t->x->roll, UPDATE_ROLLED_BACK, t->d->now_ms, roll_why_name(ROLL_PAUSED));
	t->x->roll->mended = 0;
	rollout_warning(t, "RolledBack",
		"what came with the new share did not become Ready or kept restarting: the share "
		"before is the target again");
}

static void ask_for_owner(const struct rollout_turn *t, bool goes)
{
	struct sized_workload *x = t->x;
	struct arena *a = &t->plan->arena;
	x->roll->wants_to_go = goes;
	if (x->roll->reading != 0 || t->d->now_ms < x->roll->seen.retry_ms ||
		!write_pace_take(&t->s->tracking->pace, PACE_FIGURES_AT)) {
		return;
	}
	struct action *r = write_action(&t->s->tracking->pace, t->plan, ACTION_READ_OWNER);
	r->ns = arena_strdup(a, x->key.ns);
	r->name = arena_strdup(a, x->key.name);
	r->owner = (struct owner){standing_api_version(view_of(x->key.group), x->key.kind),
		arena_strdup(a, x->key.kind), r->name, NULL};
	x->roll->reading = r->id;
}

/* Just before one of its pods goes its owner is looked at; and now and then where it is the owner
 * that keeps them. */
static bool owner_was_read(const struct rollout_turn *t, const struct roll_verdict *v)
{
	bool goes = v->does == ROLL_EVICT || v->does == ROLL_SURGE;
	bool fresh = owner_is_fresh(t->x, t->d->now_ms, goes ? OWNER_MS : OWNER_AGAIN_MS);
	const struct owner_seen *seen = &t->x->roll->seen;
	bool whole = seen->whole != REASON_NONE || seen->whole_walled != REASON_NONE;
	bool counts = goes || whole || v->why == ROLL_OWNER_MOVES || v->why == ROLL_MIN_REPLICAS ||
		      v->why == ROLL_LAST_READY || v->why == ROLL_NOT_READY;
	if (!fresh && counts && t->asked.outdated > 0) {
		ask_for_owner(t, goes);
	}
	return fresh;
}

/* Two of one owner at once would be one more than was meant. */
static bool engine_is_at_it(const struct rollout_turn *t, uint32_t at)
{
	const struct sizer_port *port = &t->s->tracking->config.engine;
	return port->evicts != NULL && port->evicts(port->data, t->asked.ask.pods[at].uid);
}

/* With what it had it did well. */
static void remember_share(const struct rollout_turn *t, const struct roll_verdict *v)
{
	const struct sized_pod *p = t->asked.members[v->pod];
	const struct world_pod *wp = world_pod_by_uid(t->d->world, p->uid);
	if (t->asked.ask.pods[v->pod].ready_ms != 0 && wp != NULL) {
		p->feeds[0].container->before =
			p->whole ? (struct small_share){0, 0}
				 : small_of(wp->gpu->milli, wp->gpu->mem_mib);
	}
}

/* It came with the share that did not do, and serves nobody. */
static bool is_in_the_way(const struct rollout_turn *t, uint32_t at)
{
	const struct roll_pod *p = &t->asked.ask.pods[at];
	const struct sized_pod *member = t->asked.members[at];
	const struct world_pod *wp = world_pod_by_uid(t->d->world, p->uid);
	if (wp == NULL || member->feed_count != 1 || !member->advised || !p->sized ||
		p->ready_ms != 0) {
		return false;
	}
	const struct share *want = &member->feeds[0].container->in_force;
	return wp->gpu->milli != want->milli || wp->gpu->mem_mib != want->mib;
}

/* May anybody of it go at all? Of a surge whose replacement was forgotten the old pod may go at any
 * time. */
static bool may_replace(const struct rollout_turn *t)
{
	const struct sized_workload *x = t->x;
	return x->holds && rollout_shown(x) && !x->heal.paused && x->surge == NULL;
}

/* The first that is in the way and may go; `ret_any`: one is in the way. */
static uint32_t who_makes_way(const struct rollout_turn *t, bool *ret_any)
{
	const struct roll_ask *ask = &t->asked.ask;
	uint32_t at = 0;
	*ret_any = false;
	for (; at < ask->pod_count; at++) {
		bool its = is_in_the_way(t, at);
		*ret_any = *ret_any || its;
		if (its && roll_makes_way(&t->s->fleet, ask, at) && !engine_is_at_it(t, at)) {
			break;
		}
	}
	return at;
}

/* It makes way for one with the share before. Nothing is under way with it, and it counts. */
static void replace_after_rollback(const struct rollout_turn *t)
{
	struct rollout_record *m = t->x->roll;
	const struct roll_ask *ask = &t->asked.ask;
	bool any;
	if (m->roll.paused != ROLL_PAUSED || m->eviction != 0 || m->mended >= ROLL_FAILURES ||
		!t->x->acts || !may_replace(t)) {
		return;
	}
	uint32_t at = who_makes_way(t, &any);
	if (at == ask->pod_count) {
		/* What was read of the owner, or could not be, is what keeps them: nobody else asks
		 * it again. */
		if (any && ask->owner != ROLL_OWNER_STEADY &&
			(m->seen.misses > 0 ||
				!owner_is_fresh(t->x, t->d->now_ms, OWNER_AGAIN_MS))) {
			ask_for_owner(t, true);
		}
		return;
	}
	if (!owner_is_fresh(t->x, t->d->now_ms, OWNER_MS)) {
		ask_for_owner(t, true);
		return;
	}
	m->mended++;
	roll_fleet_end(
		&t->s->fleet, roll_fleet_begin(&t->s->fleet, ask->pods[at].node, ask->now_ms));
	evict_pod(t, at, "the share that did not do");
}

static void apply_verdict(struct rollout_turn *t, const struct roll_verdict *v)
{
	bool moves = t->asked.ask.cause == ROLL_MOVES;
	switch (v->does) {
	case ROLL_EVICT:
	case ROLL_SURGE:
		if (!may_replace(t) || !owner_was_read(t, v) || engine_is_at_it(t, v->pod)) {
			return;
		}
		roll_begin(&t->x->roll->roll, &t->s->fleet, &t->asked.ask, v);
		remember_share(t, v);
		if (moves) {
			moves_begin(t->s, t->asked.members[v->pod], t->d);
		}
		if (v->does == ROLL_EVICT) {
			bool whole = t->asked.members[v->pod]->whole;
			evict_pod(t, v->pod,
				moves	? "neighbours that take what it lacks"
				: whole ? "a whole GPU"
					: "a share that cannot be changed as it runs");
		} else {
			surges_begin(t->s, t->x, t->asked.members[v->pod], t->d);
		}
		return;
	case ROLL_ROLLBACK:
		restore_former_targets(t);
		return;
	case ROLL_BLOCKED:
		(void)owner_was_read(t, v);
		report_blocked(t, v);
		replace_after_rollback(t);
		return;
	case ROLL_NOTHING:
	case ROLL_WAIT:
		return;
	}
}

uint32_t rollouts_step(
	struct rollouts *s, struct sized_workload *x, struct decision *d, struct plan *plan)
{
	struct rollout_turn t = {.s = s, .x = x, .d = d, .plan = plan};
	struct roll_verdict v;
	returns_step(s, x, d, plan);
	if (x->uid == NULL || !rollout_input_make(s, x, d, &plan->arena, &t.asked)) {
		return 0;
	}
	struct rollout_record *m = rollout_record(x);
	m->live = true;
	resume(m, d);
	const struct roll before = m->roll;
	roll_plan(&m->roll, &s->fleet, &t.asked.ask, &v);
	follow_up(&t, &before);
	if (t.asked.ask.cause == ROLL_MOVES) {
		d->moves = roll_explain(&t.asked.ask, &v, &plan->arena);
	}
	if (t.asked.outdated > 0 && v.does != ROLL_BLOCKED) {
		d->course = roll_explain(&t.asked.ask, &v, &plan->arena);
	}
	apply_verdict(&t, &v);
	return t.asked.ask.pod_count + ASK_UNITS;
}
