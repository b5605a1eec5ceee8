/* Who may displace whom, and when the next one is asked to go. */
#include "preempt.h"

#include <stdio.h>
#include <stdlib.h>

#include "preempt_set.h"
#include "state.h"

/* What is being opened, or has just been left, is waited for. */
#define LACKS_MS 10000
/* Between two looks of the engine, of a waiter that displaces somebody, and of one that cannot. */
#define LOOK_MS	 100
#define SOON_MS	 250
#define LATER_MS 5000
/* GPUs that one look goes through, for whomever. */
#define LOOK_GPUS 4096

/* It was looked for a GPU, and none suits; nor is one on its way. */
static bool lacks_room(enum reason reason)
{
	return reason == REASON_SHORT_COMPUTE || reason == REASON_SHORT_MEMORY ||
	       reason == REASON_MAX_TENANTS || reason == REASON_NODE_UNFIT ||
	       reason == REASON_NO_GPU_NODE || reason == REASON_CAPACITY_FAILED;
}

static bool may_displace(const struct engine *e, const struct waiter *w)
{
	const struct policy *policy = policy_of(e, &w->pod).policy;
	return !w->pod.never_preempts && (policy == NULL || !policy->never_preempts);
}

static int64_t due_at(const struct engine *e, const struct waiter *w)
{
	int64_t lacks_ms = e->cfg.lacks_ms > 0 ? e->cfg.lacks_ms : LACKS_MS;
	int64_t at = w->passed.lacks_since + lacks_ms;
	return at > w->preempt_at ? at : w->preempt_at;
}

static bool is_due(const struct engine *e, const struct waiter *w)
{
	return w->passed.lacks_since >= 0 && waiter_count(w) == 1 && lacks_room(w->reason) &&
	       e->now >= due_at(e, w);
}

static bool anyone_is_due(struct engine *e)
{
	bool due = false;
	for (size_t i = 0; i < e->ranked.count; i++) {
		const struct waiter *w = e->ranked.items[i].waiter;
		due = due || is_due(e, w);
		/* For several GPUs at once nobody is displaced. */
		if (w->passed.lacks_since >= 0 && waiter_count(w) == 1) {
			wake_by(e, due_at(e, w));
		}
	}
	return due;
}

/* By GPU, and in an order that does not depend on chance. */
static int by_gpu(const void *a, const void *b)
{
	const struct incumbent *x = a, *y = b;
	if (x->gpu != y->gpu) {
		return x->gpu < y->gpu ? -1 : 1;
	}
	return strcmp(world_pod_uid(x->pod), world_pod_uid(y->pod));
}

static void gather(struct engine *e)
{
	struct preempting *p = &e->preempting;
	VEC_CLEAR(&p->incumbents);
	for (size_t i = 0; i < world_class_count(e->world, WORLD_TENANT); i++) {
		const struct world_pod *t = world_class_at(e->world, WORLD_TENANT, i);
		if (t->gpu->gated || t->gpu->uuid == NULL || world_pod_terminal(t)) {
			continue;
		}
		struct incumbent one = {.gpu = snap_gpu_by_uuid(e, t->gpu->uuid), .pod = t};
		one.leaves = evict_look(e, t, REASON_PREEMPTED) == EVICT_GOING;
		if (one.gpu != WORLD_NONE) {
			VEC_PUSH(&p->incumbents, one);
		}
	}
	if (p->incumbents.count > 1) {
		qsort(p->incumbents.items, p->incumbents.count, sizeof *p->incumbents.items,
			by_gpu);
	}
}

/* The GPU as it will be, and who on it has a lower priority. `from` is the first incumbent of it;
 * returns the first of the next one. */
static size_t contest_begin(
	struct engine *e, size_t from, const struct waiter *w, struct contest *ret)
{
	const struct preempting *p = &e->preempting;
	uint32_t gpu = p->incumbents.items[from].gpu;
	ret->gpu = e->snap.gpus.items[gpu];
	ret->node = e->snap.nodes.items[ret->gpu.node];
	ret->count = 0;
	for (; from < p->incumbents.count && p->incumbents.items[from].gpu == gpu; from++) {
		const struct incumbent *one = &p->incumbents.items[from];
		if (one->leaves) {
			contest_give_back(&ret->gpu, &ret->node, one->pod);
		} else if (one->pod->gpu->priority < w->pod.priority &&
			   ret->count < MODEL_GRANTS_MAX &&
			   evict_look(e, one->pod, REASON_PREEMPTED) != EVICT_REFUSED) {
			ret->victims[ret->count++] = one->pod;
		}
	}
	return from;
}

struct choice {
	uint32_t gpu; /* WORLD_NONE: nowhere */
	struct victims victims;
	const struct world_pod *first; /* to go; NULL: those who leave are enough */
};

/* Nothing is gained by moving on while another GPU is as good as the one that is held. */
static bool is_better(
	const struct waiter *w, uint32_t gpu, const struct victims *v, const struct choice *best)
{
	if (best->gpu == WORLD_NONE || victims_are_cheaper(v, &best->victims)) {
		return true;
	}
	bool as_good = !victims_are_cheaper(&best->victims, v);
	return as_good && w->hold.uuid != NULL && gpu == w->hold.at;
}

static const struct world_pod *first_of(const struct contest *c, uint64_t mask)
{
	for (uint32_t i = 0; i < c->count; i++) {
		if ((mask >> i & 1) != 0) {
			return c->victims[i];
		}
	}
	return NULL;
}

/* For somebody who ranks before it; its own reservation is no obstacle to itself. */
static bool is_kept_from(const struct engine *e, const struct waiter *w, const struct place_gpu *g)
{
	return g->kept_by != 0 && e->wholes.keepers.items[g->kept_by - 1].pod != &w->pod;
}

static struct choice choose(struct engine *e, const struct waiter *w, const struct place_request *r)
{
	struct contest c = {.snap = &e->snap, .request = r};
	struct choice best = {.gpu = WORLD_NONE};
	struct victims v;
	for (size_t next, i = 0; i < e->preempting.incumbents.count; i = next) {
		uint32_t gpu = e->preempting.incumbents.items[i].gpu;
		next = contest_begin(e, i, w, &c);
		bool usable = c.gpu.state == GPU_OPEN && !c.gpu.fenced && !c.node.no_grants &&
			      !is_kept_from(e, w, &c.gpu);
		if (usable && contest_solve(&c, &v) && is_better(w, gpu, &v, &best)) {
			best = (struct choice){gpu, v, first_of(&c, v.mask)};
		}
	}
	return best;
}

/* All that was asked when a GPU was looked for, which lasted for that look only. */
static struct choice look_for(struct engine *e, struct waiter *w)
{
	struct choice nowhere = {.gpu = WORLD_NONE};
	struct place_request r = w->asked;
	struct claims_of claims;
	struct quota_view quota;
	if (needs_claims(e, &w->pod, &claims) != REASON_NONE) {
		return nowhere;
	}
	int64_t left = quotas_left(e, w, &quota);
	r.pod = &w->pod;
	r.claims = claims.items;
	r.claim_count = claims.count;
	r.apart = neighbours_mark(e, &w->pod);
	r.most_milli = quota.name != NULL ? left : 0;
	if (quota.name != NULL && left <= 0) {
		return nowhere;
	}
	landings_lift(e, w);
	hold_lift(e, w);
	struct choice found = choose(e, w, &r);
	hold_settle(e, w, NULL);
	landings_settle(e, w, NULL);
	return found;
}

static enum evict_state displace(
	struct engine *e, const struct waiter *w, const struct world_pod *victim, struct plan *plan)
{
	char name[512];
	snprintf(name, sizeof name, "%.200s/%.253s", w->pod.ns, w->pod.name);
	struct evict_why why = {
		.reason = REASON_PREEMPTED, .facts = {.name = name, .limit = w->pod.priority}};
	return evict_tenant(e, victim, &why, plan);
}

/* What somebody else's departure frees is not held: it goes to whoever ranks first. */
static void preempt_for(struct engine *e, struct waiter *w, struct plan *plan)
{
	struct choice found = look_for(e, w);
	w->preempt_at = e->now + LATER_MS;
	if (found.gpu == WORLD_NONE) {
		return;
	}
	const char *uuid = e->snap_gpus.items[found.gpu].holder->pod.identity->uuid;
	bool goes_on = text_equals(uuid, w->hold.uuid);
	enum evict_state state = EVICT_GOING;
	if (found.first != NULL) {
		state = displace(e, w, found.first, plan);
	}
	bool moves = state == EVICT_SENT || (goes_on && state == EVICT_GOING);
	if (moves) {
		hold_make(e, w, uuid, &found.victims.share);
	}
	if (moves || goes_on) {
		w->preempt_at = e->now + SOON_MS;
	}
}

void preempt_tenants(struct engine *e, struct plan *plan)
{
	/* An unfinished step has not looked at everybody. */
	if (plan->unfinished || e->resume != 0 || !anyone_is_due(e) ||
		e->now < e->preempting.next_at) {
		return;
	}
	e->preempting.next_at = e->now + LOOK_MS;
	gather(e);
	size_t looked_at = 0;
	for (size_t i = 0; i < e->ranked.count && looked_at < LOOK_GPUS; i++) {
		struct waiter *w = e->ranked.items[i].waiter;
		if (is_due(e, w) && may_displace(e, w)) {
			looked_at += e->snap.gpus.count;
			preempt_for(e, w, plan);
		}
	}
}

void preempting_finish(struct preempting *p)
{
	VEC_FINISH(&p->incumbents);
}
