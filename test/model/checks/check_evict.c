/* I5: for what a tenant may be taken down. A decision is judged by what was true a while ago, for a
 * request may be late by as much; who waited then may be gone by now. */
#include "check_evict.h"

#include <stdio.h>
#include <string.h>

#include "check_memory.h"
#include "claims/check_roll.h"
#include "claims/wayback.h"
#include "model/names.h"
#include "objects/machine_find.h"
#include "objects/pending_pods.h"
#include "objects/told.h"
#include "objects/trace.h"

#define LATELY_MS 180000

/* A tenant, or a pod that asks for whole GPUs and that the scheduler cannot place. */
static bool waits_for_gpus(const struct stored *o)
{
	return fair_is_pending(o) ||
	       (o->resource == RES_PODS && pod_is_tenant(&o->pod) &&
		       pod_has_gate(&o->pod, NAME_GATE) && o->pod.deleting_ms == 0);
}

static int priority_rank(const struct pod *p)
{
	return p->priority < 0 ? 0 : p->priority > SIM_RANKS ? SIM_RANKS : p->priority;
}

/* Each write tells who waits just before and just after it. */
void check_note_waiting(struct sim *s, const struct stored *o)
{
	if (o != NULL && waits_for_gpus(o)) {
		s->checker.waited[priority_rank(&o->pod)] = sim_now(s) + 1;
	}
}

static bool waited_lately(const struct sim *s, int rank)
{
	for (size_t i = 0; i < s->store.items.count; i++) {
		const struct stored *o = s->store.items.items[i];
		if (waits_for_gpus(o) && priority_rank(&o->pod) == rank) {
			return true;
		}
	}
	int64_t at = s->checker.waited[rank];
	return at > 0 && sim_now(s) - at < LATELY_MS;
}

static bool is_outranked(const struct sim *s, const struct pod *p)
{
	for (int rank = priority_rank(p) + 1; rank <= SIM_RANKS; rank++) {
		if (waited_lately(s, rank)) {
			return true;
		}
	}
	return false;
}

/* It was placed and not bound, and its owner makes another one. */
static bool is_unbindable(const struct pod *p)
{
	return text_empty(p->node) && p->unschedulable && text_equals(p->owner.kind, "ReplicaSet");
}

static bool is_upgraded(struct sim *s, const struct pod *p)
{
	const struct machine *m = text_empty(p->node) ? NULL : fleet_find(s, p->node);
	if (m == NULL) {
		/* Unbound: wherever it is pinned to. */
		vec_for_each (const struct machine, other, &s->fleet.machines) {
			m = other->upgraded_at > 0 ? other : m;
		}
	}
	return m != NULL && m->upgraded_at > 0 && sim_now(s) - m->upgraded_at < LATELY_MS;
}

/* --- C11: a GPU of it was lost, and not taken back, or not for long --- */

static bool is_holder_of(const struct stored *o, const char *uuid)
{
	const struct pod *p = &o->pod;
	return o->resource == RES_PODS && pod_is_capacity(p) && !pod_is_terminal(p) &&
	       p->deleting_ms == 0 && p->identity != NULL && text_equals(p->identity->uuid, uuid);
}

/* A capacity pod lets its GPU go, whoever uses it. */
void check_note_lost(struct sim *s, const struct commit *c)
{
	const struct gpu_identity *id = c->before != NULL && c->before->resource == RES_PODS
						? c->before->pod.identity
						: NULL;
	if (id == NULL || (c->after != NULL && is_holder_of(c->after, id->uuid))) {
		return;
	}
	vec_for_each (struct lost_gpu, l, &s->checker.lost) {
		if (strcmp(l->uuid, id->uuid) == 0) {
			l->at = sim_now(s);
			return;
		}
	}
	struct lost_gpu made = {.at = sim_now(s)};
	snprintf(made.uuid, sizeof made.uuid, "%s", id->uuid);
	VEC_PUSH(&s->checker.lost, made);
}

static bool is_lost(const struct sim *s, const char *uuid)
{
	vec_for_each (const struct lost_gpu, l, &s->checker.lost) {
		if (strcmp(l->uuid, uuid) == 0 && sim_now(s) - l->at < LATELY_MS) {
			return true;
		}
	}
	for (size_t i = 0; i < s->store.items.count; i++) {
		if (is_holder_of(s->store.items.items[i], uuid)) {
			return false;
		}
	}
	return true;
}

static bool is_orphaned(const struct sim *s, const struct pod *p)
{
	struct told_gpu t = told_gpus(p);
	while (told_gpu_next(&t)) {
		if (is_lost(s, t.uuid)) {
			return true;
		}
	}
	return false;
}

void check_eviction(struct sim *s, const struct stored *o)
{
	const struct pod *p = &o->pod;
	if (s->weather.rolled && roll_excuses(s, o)) {
		s->report->rolled++;
		wayback_evicted(s, o);
		return;
	}
	if (!pod_is_tenant(p) || pod_has_gate(p, NAME_GATE)) {
		sim_fail(s, "I5", "%s/%s is evicted and shares no GPU", o->ns, o->name);
	} else if (!is_unbindable(p) && !is_upgraded(s, p) && !is_outranked(s, p) &&
		   !is_orphaned(s, p) && !memory_excuses(s, o)) {
		sim_fail(s, "I5", "%s/%s of priority %d is evicted for nothing", o->ns, o->name,
			p->priority);
	}
}
