/* The surges under way: begun here or found, one task at a time, and what was answered. */
#include <stdio.h>
#include <stdlib.h>

#include "model/names.h"
#include "tracking/pod_owner.h"
#include "tracking/pod_table.h"
#include "surge_turn.h"
#include "rollouts/surges.h"

#include "rollouts/rollouts.h"

#define SHOWN_MS 10000 /* what was written is shown by then, or never */
#define FAIL_MS	 1000  /* after a failure, doubling to */
#define FAIL_MAX 6     /* so many times */

/* --- the table --- */

static struct surge *surge_create(
	struct rollouts *s, struct sized_workload *x, const struct pod *pod)
{
	struct surge *g = xcalloc(1, sizeof *g);
	g->arena.block_bytes = 1024;
	g->of = x;
	g->ns = arena_strdup(&g->arena, pod->ns);
	g->set_name = arena_strdup(&g->arena, pod->owner.name);
	g->set_uid = arena_strdup(&g->arena, pod->owner.uid);
	g->hash = arena_strdup(&g->arena, pairs_get(&pod->labels, LABEL_TEMPLATE_HASH));
	x->surge = g;
	VEC_PUSH(&s->surges.list, g);
	return g;
}

static void surge_destroy_at(struct rollouts *s, size_t i)
{
	struct surge *g = s->surges.list.items[i];
	if (g->of != NULL) {
		g->of->surge = NULL;
	}
	arena_finish(&g->arena);
	free(g);
	VEC_REMOVE_SWAP(&s->surges.list, i);
}

void surges_drop(struct rollouts *s, const struct sized_workload *x)
{
	for (size_t i = s->surges.list.count; i-- > 0;) {
		if (x == NULL || s->surges.list.items[i]->of == x) {
			surge_destroy_at(s, i);
		}
	}
}

void surges_finish(struct rollouts *s)
{
	surges_drop(s, NULL);
	VEC_FINISH(&s->surges.list);
}

/* --- begun here, or found --- */

const char *surges_unfit(
	const struct rollouts *s, const struct sized_workload *x, const struct pod *pod)
{
	const char *hash = pairs_get(&pod->labels, LABEL_TEMPLATE_HASH);
	struct surge_form form = {
		.deployment = text_equals(x->key.group, "apps") &&
			      text_equals(x->key.kind, "Deployment") &&
			      text_equals(pod->owner.kind, "ReplicaSet"),
		.recreates = x->roll != NULL && x->roll->seen.recreates,
		.host_ports = pod->extra.ports.count > 0,
		.exclusive_volume = hash != NULL && x->exclusive == hash_text(hash),
		.selects_by_hash = hash != NULL || pod->beside,
		.own_cost = pod->own_cost,
	};
	const char *why = surge_unfit(&form);
	if (why != NULL || s->surges.right == SIZER_SURGE_ALLOWED) {
		return why;
	}
	return s->surges.right == SIZER_SURGE_UNKNOWN
		       ? "whether pods may be made beside others is not known yet"
		       : "the overlay surge is not applied, so no pod may be made beside another";
}

void surges_begin(struct rollouts *s, struct sized_workload *x, const struct sized_pod *p,
	const struct decision *d)
{
	struct pod pod;
	char name[SURGE_NAME_MAX];
	struct roll_ending e = {ROLL_END_REFUSED, "the old pod is not known any more", 0, false};
	const struct world_pod *wp = world_pod_by_uid(d->world, p->uid);
	arena_reset(&s->tracking->scratch);
	if (wp != NULL && world_pod_unpack(wp, &s->tracking->scratch, &pod) && x->surge == NULL) {
		e.by = surges_unfit(s, x, &pod);
	}
	if (e.by != NULL) {
		rollout_settle(s, x, &e, d->now_ms);
		return;
	}
	struct surge *g = surge_create(s, x, &pod);
	g->checks = true;
	g->patient = d->choice.policy == NULL || d->choice.policy->rollout.may_add_nodes;
	g->old_name = arena_strdup(&g->arena, pod.name);
	g->old_uid = arena_strdup(&g->arena, pod.uid);
	g->fresh_name = arena_strdup(&g->arena, surge_name(g->set_name, g->old_uid, name));
}

/* Of the new pod, which names the old one's uid. */
static void find_by_fresh(struct surge *g, const struct pod *pod, const struct world *w)
{
	const char *number = pairs_get(&pod->notes, NOTE_SURGE_GENERATION);
	const char *old_uid = text_or(pairs_get(&pod->labels, LABEL_SURGE), "");
	const struct world_pod *old = world_pod_by_uid(w, old_uid);
	g->old_uid = arena_strdup(&g->arena, old_uid);
	g->old_name = old != NULL ? arena_strdup(&g->arena, world_pod_name(old)) : NULL;
	g->fresh_name = arena_strdup(&g->arena, pod->name);
	g->hash = arena_strdup(&g->arena, pairs_get(&pod->notes, NOTE_SURGE_HASH));
	if (number == NULL || !parse_i64(view_of(number), 0, INT64_MAX, &g->generation)) {
		g->generation = 0;
	}
}

/* One that ended is none of its pods any more, and the new one has to go all the same. */
static struct sized_workload *workload_of_marked(struct rollouts *s, const struct world_pod *wp)
{
	bool advised;
	if (world_pod_terminal(wp)) {
		return wp->gpu->beside ? pods_workload(s->tracking, wp, &advised) : NULL;
	}
	const struct sized_pod *p = pods_find(s->tracking, world_pod_uid(wp));
	return p != NULL ? p->of : NULL;
}

void surges_see(
	struct rollouts *s, const struct world_pod *wp, struct sizer_now now, const struct world *w)
{
	struct pod pod;
	if ((!wp->gpu->beside && !wp->gpu->surged) || wp->deleting) {
		return;
	}
	struct sized_workload *x = workload_of_marked(s, wp);
	arena_reset(&s->tracking->scratch);
	if (x == NULL || x->surge != NULL || !world_pod_unpack(wp, &s->tracking->scratch, &pod)) {
		return;
	}
	struct surge *g = surge_create(s, x, &pod);
	g->found = g->began = g->patient = true;
	if (pod.beside) {
		find_by_fresh(g, &pod, w);
	} else { /* the old one, which names the new one */
		g->old_uid = arena_strdup(&g->arena, pod.uid);
		g->old_name = arena_strdup(&g->arena, pod.name);
		g->fresh_name = arena_strdup(&g->arena, pairs_get(&pod.notes, NOTE_SURGED_BY));
	}
	rollout_found(s, x, wp, now, w);
}

/* --- steps --- */

void surges_step(struct rollouts *s, struct sizer_now now, const struct world *w, struct plan *plan)
{
	for (size_t i = s->surges.list.count; i-- > 0;) {
		struct surge *g = s->surges.list.items[i];
		if (g->of != NULL && g->action == 0 && now.mono_ms >= g->at_ms) {
			surge_turn(s, g, now, w, plan);
		}
		if (g->of == NULL) {
			surge_destroy_at(s, i);
		}
	}
}

int64_t surges_deadline(const struct rollouts *s)
{
	int64_t at = TIME_NEVER;
	for (size_t i = 0; i < s->surges.list.count; i++) {
		const struct surge *g = s->surges.list.items[i];
		at = g->action == 0 ? time_min(at, g->at_ms) : at;
	}
	return at;
}

/* --- answers --- */

/* An eviction may be under way beside one that was found late: that ends by itself. */
void surges_settle(
	struct rollouts *s, struct sized_workload *x, const struct roll_ending *e, int64_t now_ms)
{
	if (x->roll != NULL && x->roll->roll.doing == ROLL_SURGE) {
		rollout_settle(s, x, e, now_ms);
	}
}

static void surge_backoff(struct surge *g, struct sizer_now now, const struct fault *f)
{
	g->at_ms = now.mono_ms + (FAIL_MS << g->failures);
	g->failures += g->failures < FAIL_MAX ? 1 : 0;
	snprintf(g->blocker, sizeof g->blocker, "%s", f->message);
}

/* There is no new pod yet: nothing is left to be done. */
static void surge_give_up(
	struct rollouts *s, struct surge *g, struct sizer_now now, const struct fault *f)
{
	struct roll_ending e = {ROLL_END_REFUSED, f->message, f->retry_after_ms, false};
	struct sized_workload *x = g->of;
	x->surge = NULL;
	g->of = NULL;
	g->at_ms = now.mono_ms;
	surges_settle(s, x, &e, now.policy_ms);
}

/* What cannot be read is not what is not there: the deadline goes on, and nothing else does. */
static void settle_surge_read(struct surge *g, struct sizer_now now, const struct outcome *outcome)
{
	bool read = outcome->fault.kind == FAULT_NONE && outcome->seen != NULL;
	struct surge_live before = g->seen.live;
	if (!read) {
		surge_backoff(g, now, &outcome->fault);
		g->seen.current = g->seen_ms == 0 || g->seen.current;
		g->seen.live.read_ms = 0;
		g->seen_ms = now.wall_ms + (FAIL_MS << g->failures);
		return;
	}
	g->failures = 0;
	g->seen = *outcome->seen;
	g->seen_ms = now.wall_ms;
	if (g->task == SURGE_TASK_LOOK) {
		g->seen.live = before;
		return;
	}
	g->seen.live.read_ms = now.wall_ms;
	g->seen.live.asked_ms = g->asked_ms;
	if (now.wall_ms - g->asked_ms > SURGE_ASKED_MS) {
		g->at_ms = now.mono_ms + SURGE_ASKED_MS; /* a server that is slow is not hurried */
	}
	snprintf(g->blocker, sizeof g->blocker, "%s", g->seen.blocker);
}

static void settle_surge_write(
	struct rollouts *s, struct surge *g, struct sizer_now now, const struct outcome *outcome)
{
	const struct fault *f = &outcome->fault;
	bool written = f->kind == FAULT_NONE || f->unknown_outcome;
	bool there = f->status == 409 && f->kind == FAULT_CONFLICT;
	g->action = 0;
	g->at_ms = now.mono_ms;
	if (g->of == NULL) {
		return;
	}
	if (g->checks && f->kind != FAULT_NONE) {
		surge_give_up(s, g, now, f);
	} else if (g->task == SURGE_TASK_LOOK || g->task == SURGE_TASK_READ) {
		settle_surge_read(g, now, outcome);
	} else if (g->task == SURGE_TASK_CREATE && !written && !there) {
		surge_give_up(s, g, now, f);
	} else if (g->task == SURGE_TASK_CREATE) {
		g->stamped[0] = '\0';
		g->shown_by = now.mono_ms + SHOWN_MS;
	} else if (written) {
		g->seen.live.read_ms = 0; /* all is read again before the next write */
		g->labelled = g->labelled || (g->task == SURGE_TASK_ADOPT && f->kind == FAULT_NONE);
		g->failures = 0;
		g->shown_by = now.mono_ms + SHOWN_MS;
	} else if (f->kind == FAULT_CONFLICT || f->kind == FAULT_NOT_FOUND) {
		g->at_ms = now.mono_ms + SURGE_AGAIN_MS;
	} else {
		surge_backoff(g, now, f);
	}
}

bool surges_answer(
	struct rollouts *s, struct sizer_now now, uint64_t id, const struct outcome *outcome)
{
	for (size_t i = 0; i < s->surges.list.count; i++) {
		if (s->surges.list.items[i]->action == id) {
			settle_surge_write(s, s->surges.list.items[i], now, outcome);
			return true;
		}
	}
	return false;
}
