/* One surge in one step: who is there, what src/roll says comes next, and the task that it is. */
#include "surge_turn.h"

#include <stdio.h>

#define LOOK_MS 2000 /* what was seen last is looked at again */

/* --- who is there --- */

/* One of its pods, unpacked; absent: NULL. */
struct present {
	const struct world_pod *wp;
	struct pod pod;
	struct surge_pod as;
};

static bool unpack(const struct world_pod *wp, struct arena *a, struct present *ret)
{
	*ret = (struct present){.wp = wp};
	if (wp == NULL || wp->gpu == NULL || !world_pod_unpack(wp, a, &ret->pod)) {
		ret->wp = NULL;
		return false;
	}
	ret->as = (struct surge_pod){.name = world_pod_name(wp),
		.uid = world_pod_uid(wp),
		.created_ms = wp->gpu->created_ms,
		.leaving = wp->deleting,
		.ended = world_pod_terminal(wp),
		.sized = wp->gpu->class == WORLD_TENANT};
	return true;
}

struct standing_of {
	struct present old, fresh;
	int32_t present; /* of the ReplicaSet, that stay */
	bool unready;	 /* one of them */
};

/* It is at our gate, and was told why. */
static void note_waiting(struct surge *g, const struct pod *pod, struct surge_pod *ret)
{
	const struct pod_condition *c = &pod->placed;
	enum reason reason = c->type != NULL && !c->is_true && pod_has_gate(pod, NAME_GATE)
				     ? reason_parse(c->reason)
				     : REASON_NONE;
	g->waits[0] = '\0';
	if (reason != REASON_NONE) {
		snprintf(g->waits, sizeof g->waits, "%s: %s", c->reason, text_or(c->message, "?"));
	}
	ret->outranked = reason == REASON_WHOLE_POD_FIRST || reason == REASON_RESERVED;
}

static void find_fresh(struct surge *g, const struct world *w, struct arena *a, struct present *ret)
{
	const struct world_pod *wp =
		g->fresh_name != NULL ? world_pod_find(w, g->ns, g->fresh_name) : NULL;
	if (!unpack(wp, a, ret)) {
		return;
	}
	if (!text_equals(pairs_get(&ret->pod.labels, LABEL_SURGE), g->old_uid)) {
		ret->wp = NULL;
		return;
	}
	ret->as.labelled = text_equals(pairs_get(&ret->pod.labels, LABEL_TEMPLATE_HASH), g->hash);
	ret->as.adopted = !ret->pod.beside && ret->pod.owner.uid != NULL;
	ret->as.adopted_here = ret->as.adopted && text_equals(ret->pod.owner.uid, g->set_uid);
	ret->as.ready_ms = wp->gpu->ready ? g->seen.ready_ms : 0;
	note_waiting(g, &ret->pod, &ret->as);
}

static void read_surge_state(
	struct surge *g, const struct world *w, struct arena *a, struct standing_of *ret)
{
	uint64_t set = g->set_uid != NULL ? hash_text(g->set_uid) : 0;
	*ret = (struct standing_of){0};
	if (unpack(world_pod_by_uid(w, g->old_uid), a, &ret->old)) {
		ret->old.as.low_cost = ret->old.pod.surged;
	}
	find_fresh(g, w, a, &ret->fresh);
	for (const struct sized_pod *p = g->of->members; p != NULL; p = p->next) {
		const struct world_pod *wp = world_pod_by_uid(w, p->uid);
		bool stays = wp != NULL && wp->gpu != NULL && !wp->deleting &&
			     !world_pod_terminal(wp) && !wp->gpu->beside;
		ret->present += stays && p->set == set ? 1 : 0;
		ret->unready = ret->unready || (stays && p->set == set && !wp->gpu->ready);
	}
}

/* --- what is asked for --- */

/* One surge in one step. */
struct surge_step {
	struct rollouts *s;
	struct surge *g;
	struct sizer_now now;
	const struct world *world;
	struct plan *plan;
	struct standing_of here;
};

static void submit(struct surge_step *t, enum surge_task task, const struct present *about)
{
	struct surge *g = t->g;
	struct arena *a = &t->plan->arena;
	struct surge_order *o = ARENA_NEW(a, struct surge_order);
	const struct present *fresh = &t->here.fresh;
	*o = (struct surge_order){.task = task,
		.set_name = arena_strdup(a, g->set_name),
		.set_uid = arena_strdup(a, g->set_uid),
		.hash = arena_strdup(a, g->hash),
		.generation = g->generation,
		.old_uid = arena_strdup(a, g->old_uid),
		.fresh_name = g->checks ? NULL : arena_strdup(a, g->fresh_name),
		.fresh_uid = fresh->wp != NULL ? arena_strdup(a, fresh->as.uid) : NULL};
	struct action *x = write_action(&t->s->tracking->pace, t->plan, ACTION_SURGE);
	x->surge = o;
	x->ns = arena_strdup(a, g->ns);
	x->name = arena_strdup(a, about != NULL ? about->as.name : g->fresh_name);
	if (about != NULL) {
		x->uid = arena_strdup(a, about->as.uid);
		x->resource_version = arena_strdup(a, about->pod.resource_version);
		g->stamp = about->wp->gpu->stamp;
		snprintf(g->stamped, sizeof g->stamped, "%s", about->as.uid);
	}
	g->action = x->id;
	g->task = task;
	g->asked_ms = t->now.wall_ms;
}

static void surge_event(struct surge_step *t, const char *reason, bool warning, const char *message)
{
	write_event(&t->s->tracking->pace, t->g->of, t->plan, reason, message)->warning = warning;
}

/* Why, and who it is. In the arena. */
static const char *why_text(struct surge_step *t, enum surge_why why)
{
	bool waited = why == SURGE_TOO_LONG || why == SURGE_BEHIND;
	const char *who = waited && t->g->waits[0] != '\0' ? t->g->waits : t->g->blocker;
	return arena_printf(&t->plan->arena, "%s%s%s%s", surge_why_text(why),
		who[0] != '\0' ? " (" : "", who, who[0] != '\0' ? ")" : "");
}

/* Once for each cause. */
static void emit_surge_waits(struct surge_step *t, enum surge_why why)
{
	if (why == SURGE_STARTS || why == SURGE_SETTLES || why == SURGE_LEAVES) {
		return;
	}
	const char *text = arena_printf(&t->plan->arena, "pod %s waits to take the place of %s: %s",
		t->g->fresh_name, text_or(t->g->old_name, "its predecessor"), why_text(t, why));
	uint64_t hash = hash_text(text);
	if (hash != t->g->told) {
		t->g->told = hash;
		surge_event(t, "SurgeWaits", false, text);
	}
}

/* --- the end --- */

static void surge_end(struct surge_step *t, enum surge_do does, const char *by)
{
	struct surge *g = t->g;
	/* It took room for nothing, and the next one may do the same. */
	bool wasted = does == SURGE_FAILED && g->began &&
		      (g->why == SURGE_TOO_LONG || g->why == SURGE_BEHIND ||
			      g->why == SURGE_ENDED || g->why == SURGE_WHOLE);
	enum roll_end end = does == SURGE_DONE	  ? ROLL_END_DONE
			    : does == SURGE_LOST  ? ROLL_END_LOST
			    : g->why == SURGE_PDB ? ROLL_END_BUDGET
						  : ROLL_END_REFUSED;
	struct roll_ending e = {end, by, 0, wasted};
	struct sized_workload *x = g->of;
	if (does == SURGE_LOST) {
		surge_event(t, "SurgeLostRace", true,
			arena_printf(&t->plan->arena,
				"ReplicaSet %s did not delete pod %s for %s: nothing more is "
				"replaced",
				text_or(g->set_name, "?"), text_or(g->old_name, "?"),
				text_or(g->fresh_name, "?")));
	} else if (does == SURGE_FAILED && (g->began || g->found)) {
		surge_event(t, "SurgeEnded", false,
			arena_printf(&t->plan->arena, "pod %s does not take the place of %s: %s",
				text_or(g->fresh_name, "?"), text_or(g->old_name, "?"), by));
	}
	x->surge = NULL;
	g->of = NULL;
	surges_settle(t->s, x, &e, t->now.policy_ms);
}

/* --- one step --- */

/* What was written last is not shown yet. */
static bool write_is_pending(struct surge_step *t)
{
	struct surge *g = t->g;
	if (g->shown_by == 0) {
		return false;
	}
	const struct world_pod *wp =
		g->stamped[0] != '\0' ? world_pod_by_uid(t->world, g->stamped) : NULL;
	bool made = g->task == SURGE_TASK_CREATE && t->here.fresh.wp != NULL;
	bool changed = g->task != SURGE_TASK_CREATE &&
		       (wp == NULL || wp->gpu == NULL || wp->gpu->stamp != g->stamp);
	if (made || changed || t->now.mono_ms >= g->shown_by) {
		g->began = g->began || g->task == SURGE_TASK_CREATE;
		g->shown_by = 0;
		return false;
	}
	g->at_ms = t->now.mono_ms + SURGE_AGAIN_MS;
	return true;
}

/* Before there is a new pod: all that would speak against it in the end. */
static void surge_check_preconditions(struct surge_step *t)
{
	struct surge *g = t->g;
	if (g->seen_ms == 0) {
		submit(t, SURGE_TASK_READ, NULL);
		return;
	}
	g->why = surge_judge(&g->seen.live);
	if (g->seen.exclusive_volume) {
		g->of->exclusive = hash_text(g->hash);
		surge_end(t, SURGE_FAILED,
			arena_printf(&t->plan->arena,
				"its pods use a volume that only one of them can have (%s)",
				g->blocker));
	} else if (!g->seen.current || g->why != SURGE_GOES) {
		surge_end(t, SURGE_FAILED, why_text(t, g->seen.current ? g->why : SURGE_ROLLOUT));
	} else {
		g->checks = false;
		g->generation = g->seen.generation;
	}
}

static void surge_apply(struct surge_step *t, const struct surge_verdict *v)
{
	struct surge *g = t->g;
	const struct standing_of *here = &t->here;
	switch (v->does) {
	case SURGE_WAIT:
		emit_surge_waits(t, v->why);
		g->at_ms = t->now.mono_ms + LOOK_MS / 2;
		return;
	case SURGE_CREATE:
		surge_event(t, "UpdateStarted", false,
			arena_printf(&t->plan->arena,
				"pod %s is made beside %s, of ReplicaSet %s, to take its place "
				"once it is Ready",
				g->fresh_name, g->old_name, g->set_name));
		submit(t, SURGE_TASK_CREATE, NULL);
		return;
	case SURGE_READ:
		submit(t, SURGE_TASK_READ, NULL);
		return;
	case SURGE_LOWER_COST:
		submit(t, SURGE_TASK_LOWER_COST, &here->old);
		return;
	case SURGE_RESTORE:
		g->why = v->why;
		submit(t, SURGE_TASK_RESTORE, &here->old);
		return;
	case SURGE_ADOPT:
		submit(t, SURGE_TASK_ADOPT, &here->fresh);
		return;
	case SURGE_DROP:
		g->why = v->why;
		submit(t, SURGE_TASK_DROP, &here->fresh);
		return;
	case SURGE_LOST:
		if (here->old.wp != NULL && here->old.as.low_cost && !here->old.as.leaving &&
			!here->old.as.ended) {
			submit(t, SURGE_TASK_RESTORE, &here->old);
			return;
		}
		surge_end(t, v->does, NULL);
		return;
	case SURGE_DONE:
		surge_end(t, v->does, NULL);
		return;
	case SURGE_FAILED:
		surge_end(t, v->does, why_text(t, g->why != SURGE_GOES ? g->why : v->why));
		return;
	}
}

/* Its pods are those that the last round met: who came since is counted by the next one. */
static bool recount(const struct surge_step *t)
{
	struct surge *g = t->g;
	const struct present *fresh = &t->here.fresh;
	if (fresh->wp == NULL || !fresh->as.adopted || t->here.present > g->seen.replicas) {
		g->few_round = 0;
		return false;
	}
	if (g->few_round == 0) {
		g->few_round = t->s->tracking->rounds + 2; /* the one under way, and a whole one */
	}
	return t->s->tracking->rounds >= g->few_round;
}

void surge_turn(struct rollouts *s, struct surge *g, struct sizer_now now, const struct world *w,
	struct plan *plan)
{
	struct surge_step here = {.s = s, .g = g, .now = now, .world = w, .plan = plan};
	struct surge_step *t = &here;
	arena_reset(&t->s->tracking->scratch);
	read_surge_state(g, t->world, &t->s->tracking->scratch, &t->here);
	if (write_is_pending(t)) {
		return;
	}
	if (g->checks) {
		surge_check_preconditions(t);
	}
	if (g->of == NULL || g->action != 0) {
		return;
	}
	g->began = g->began || t->here.fresh.wp != NULL;
	g->labelled = g->labelled || t->here.fresh.as.labelled;
	if (g->seen_ms == 0 || t->now.wall_ms - g->seen_ms > LOOK_MS) {
		submit(t, SURGE_TASK_LOOK, NULL);
		return;
	}
	struct surge_verdict v;
	const struct sized_workload *x = g->of;
	/* Two pods of one workload at once would be one more than was meant. */
	bool evicts = x->roll != NULL && x->roll->roll.doing == ROLL_EVICT;
	const struct surge_ask ask = {.now_ms = t->now.wall_ms,
		.wanted = (!x->decided || x->acts) && !evicts &&
			  s->surges.right != SIZER_SURGE_FORBIDDEN,
		.allowed = s->surges.right == SIZER_SURGE_ALLOWED,
		.patient = g->patient,
		.began = g->began,
		.given = g->labelled && g->why == SURGE_GOES,
		.current = g->seen.current,
		.replicas = g->seen.replicas,
		.present = t->here.present,
		.recounted = recount(t),
		.unready = t->here.unready,
		.min_ready_ms = g->seen.min_ready_ms,
		.old = t->here.old.wp != NULL ? &t->here.old.as : NULL,
		.fresh = t->here.fresh.wp != NULL ? &t->here.fresh.as : NULL,
		.live = &g->seen.live};
	surge_step(&ask, &v);
	surge_apply(t, &v);
}
