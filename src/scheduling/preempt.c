/* Which waiter preempts, on which GPU, and when the next victim is asked to go. Who may be a victim
 * is in incumbent.c. */
#include "scheduling/preempt.h"

#include <stdio.h>

#include "capacity/inject_class.h"
#include "demand/needs.h"
#include "demand/quota_usage.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "guardian/evict.h"
#include "ledger/ledger.h"
#include "scheduling/incumbent.h"
#include "scheduling/preempt_set.h"
#include "scheduling/scheduling.h"
#include "scheduling/preempt_plan.h"

/* Between two looks of the engine. */
#define LOOK_MS 100
/* GPUs that one look goes through, for whomever. */
#define LOOK_GPUS 4096

/* The last look found no GPU that suits, and none is being opened for it: only then it preempts. */
static bool lacks_room(enum reason reason)
{
	return reason == REASON_SHORT_COMPUTE || reason == REASON_SHORT_MEMORY ||
	       reason == REASON_MAX_TENANTS || reason == REASON_NODE_UNFIT ||
	       reason == REASON_NO_GPU_NODE || reason == REASON_CAPACITY_FAILED ||
	       reason == REASON_NO_INJECTION || reason == REASON_EXCLUSIVE ||
	       reason == REASON_SHORT_GPUS || reason == REASON_RESERVED ||
	       reason == REASON_WHOLE_POD_FIRST;
}

/* By its own preemptionPolicy and by its policy's `preemption`. */
static bool may_preempt_others(const struct world *world, const struct pod *pod)
{
	const struct policy *policy = policy_of(world, pod).policy;
	return !pod->never_preempts && (policy == NULL || !policy->never_preempts);
}

static int64_t due_at(const struct picture *picture, const struct waiter *w)
{
	int64_t at = w->passed.lacks_since + picture->cfg->lacks_ms;
	return at > w->preempt_at ? at : w->preempt_at;
}

static bool is_due(const struct picture *picture, const struct waiter *w)
{
	/* One that was granted some of its GPUs completes them or gives them back (group.c). */
	return w->passed.lacks_since >= 0 && w->granted_step != picture->time->step &&
	       lacks_room(w->reason) && picture->time->now >= due_at(picture, w);
}

static int64_t whole_due_at(const struct picture *picture, const struct whole *w)
{
	int64_t at = w->lacks_since + picture->cfg->lacks_ms;
	return w->lacks_since < 0 ? TIME_NEVER : at > w->preempt_at ? at : w->preempt_at;
}

static bool whole_is_due(const struct picture *picture, const struct whole *w)
{
	return picture->time->now >= whole_due_at(picture, w) && whole_is_judged(&w->pod) &&
	       w->pod.gpus <= MODEL_GPU_COUNT_MAX;
}

static bool anyone_is_due(struct scheduling *sched)
{
	const struct picture *picture = sched->picture;
	bool due = false;
	for (size_t i = 0; i < sched->ranked->count; i++) {
		const struct waiter *w = sched->ranked->items[i];
		due = due || is_due(picture, w);
		if (w->passed.lacks_since >= 0) {
			wake_by(picture->time, due_at(picture, w));
		}
	}
	vec_for_each (struct whole *const, w, &sched->wholes->ranked) {
		due = due || whole_is_due(picture, *w);
		wake_by(picture->time, whole_due_at(picture, *w));
	}
	return due;
}

struct choice {
	uint32_t gpu;	/* WORLD_NONE: nowhere */
	uint32_t count; /* of several: those that are open already */
	uint32_t gpus[MODEL_GPU_COUNT_MAX];
	struct victims cost;
	struct place_verdict share;    /* on each */
	const struct world_pod *first; /* to go; NULL: those who leave are enough */
};

/* Nothing is gained by moving on while another GPU is as good as the one that is held. */
static bool is_better(
	const struct waiter *w, uint32_t gpu, const struct victims *v, const struct choice *best)
{
	if (best->gpu == WORLD_NONE || victims_are_cheaper(v, &best->cost)) {
		return true;
	}
	bool as_good = !victims_are_cheaper(&best->cost, v);
	return as_good && w->hold.uuid != NULL && hold_is_on(w, gpu);
}

static const struct world_pod *first_of(
	const struct evictions *evictions, const struct contest *c, uint64_t mask)
{
	const struct world_pod *first = NULL;
	for (uint32_t i = 0; i < c->count; i++) {
		if ((mask >> i & 1) == 0) {
			continue;
		}
		if (evict_is_doubtful(evictions, c->victims[i])) {
			return c->victims[i];
		}
		first = first != NULL ? first : c->victims[i];
	}
	return first;
}

static struct choice choose(
	struct preempting *preempting, const struct waiter *w, const struct place_request *r)
{
	struct contest c = {.snap = &preempting->picture->snap, .request = r};
	const struct incumbents *all = &preempting->incumbents;
	struct choice best = {.gpu = WORLD_NONE};
	struct victims v;
	for (size_t i = 0; i < all->count; i++) {
		uint32_t gpu = all->items[i].gpu;
		if (i > 0 && all->items[i - 1].gpu == gpu) {
			continue;
		}
		incumbents_contest(preempting, gpu, w->pod.priority, &c);
		bool usable =
			c.gpu.state != GPU_OPENING && !c.gpu.fenced && !c.node.no_grants &&
			!kept_from(preempting->scheduling->wholes, c.gpu.kept_by, &w->pod, false);
		if (usable && contest_solve(&c, &v) && is_better(w, gpu, &v, &best)) {
			best = (struct choice){.gpu = gpu, .share = v.share, .cost = v};
			best.first = first_of(preempting->evictions, &c, v.mask);
		}
	}
	return best;
}

/* The same of several GPUs. */
static struct choice choose_many(
	struct preempting *preempting, const struct waiter *w, const struct place_request *r)
{
	struct preempt_want want = {.request = r, .count = waiter_count(w), .held = w->hold.uuid};
	struct preempt_plan found = preempt_plan_make(preempting, &want);
	struct choice c = {.gpu = WORLD_NONE, .share = found.cost.share, .first = found.first};
	if (found.node != WORLD_NONE && found.gpu_count > 0) {
		c.gpu = found.gpus[0];
		c.count = found.gpu_count;
		memcpy(c.gpus, found.gpus, sizeof c.gpus);
	}
	return c;
}

/* All that was asked when a GPU was looked for, which lasted for that look only. */
static struct choice look_for(struct preempting *preempting, struct waiter *w)
{
	struct picture *picture = preempting->picture;
	struct choice nowhere = {.gpu = WORLD_NONE};
	struct place_request r = w->asked;
	struct claims_of claims;
	struct quota_view quota;
	if (needs_claims(picture->world, &w->pod, &claims) != REASON_NONE) {
		return nowhere;
	}
	int64_t left = quotas_left(preempting->scheduling->quotas, w, &quota) / waiter_count(w);
	r.company = manners_of_waiter(preempting->scheduling->companies, w).company;
	r.mps = pod_is_mps(&w->pod);
	needs_ask(preempting->scheduling->needs, &w->pod, &claims, &r);
	r.quota_left_milli = quota.name != NULL ? left : 0;
	if (quota.name != NULL && left <= 0) {
		return nowhere;
	}
	landings_lift(picture, w);
	hold_lift(picture, w);
	struct choice found =
		waiter_count(w) > 1 ? choose_many(preempting, w, &r) : choose(preempting, w, &r);
	hold_settle(picture, w, NULL);
	landings_settle(picture, w, NULL);
	return found;
}

static enum evict_state preempt_one(struct evictions *evictions, const struct pod *for_whom,
	const struct world_pod *victim, struct emitter *out)
{
	char name[512];
	snprintf(name, sizeof name, "%.200s/%.253s", for_whom->ns, for_whom->name);
	struct evict_why why = {
		.reason = REASON_PREEMPTED, .facts = {.name = name, .limit = for_whom->priority}};
	return evict_tenant(evictions, victim, &why, out);
}

/* The UUIDs of these GPUs of the snapshot, those that are known. */
static void gpus_list(
	const struct picture *picture, const uint32_t *gpus, uint32_t count, struct str *out)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct gpu_identity *id =
			picture->snap_gpus.items[gpus[i]].holder->pod.identity;
		if (id != NULL) {
			str_append_text(out, out->len > 0 ? "," : "");
			str_append_text(out, id->uuid);
		}
	}
}

/* One look for one who waits: asks those to go who must, and holds for it what that frees. What
 * others free by leaving is not held: it goes to whoever ranks first. */
static void preempt_for(struct preempting *preempting, struct waiter *w, struct emitter *out)
{
	const struct picture *picture = preempting->picture;
	struct choice found = look_for(preempting, w);
	w->preempt_at = picture->time->now + PREEMPT_LATER_MS;
	if (found.gpu == WORLD_NONE) {
		return;
	}
	CLEANUP(str_finish) struct str uuids = STR_INIT(MODEL_GPU_COUNT_MAX * GPU_UUID_MAX);
	uint32_t one[] = {found.gpu};
	gpus_list(picture, found.count > 0 ? found.gpus : one, found.count > 0 ? found.count : 1,
		&uuids);
	/* Nobody goes for who may get nothing there. */
	if (inject_asks(preempting->scheduling->inject, &w->pod,
		    picture->snap_gpus.items[found.gpu].holder)) {
		return;
	}
	bool goes_on = hold_is_on(w, found.gpu);
	enum evict_state state = EVICT_GOING;
	if (found.first != NULL) {
		state = preempt_one(preempting->evictions, &w->pod, found.first, out);
	}
	bool moves = state == EVICT_SENT || (goes_on && state == EVICT_GOING);
	if (moves) {
		hold_make(picture->time, w, str_text(&uuids), &found.share);
	}
	if (moves || goes_on) {
		w->preempt_at = picture->time->now + PREEMPT_SOON_MS;
	}
}

/* The same for whole GPUs. What that frees is kept for it for a minute, whoever ranks before: it
 * comes first in the walk, and what it still lacks is out of the picture for everybody
 * (docs/design/fairness.md). */
#define WHOLE_HOLD_MS 60000

static struct preempt_plan plan_for(struct preempting *preempting, struct whole *w)
{
	struct preempt_plan nowhere = {.node = WORLD_NONE};
	struct claims_of claims;
	if (!may_preempt_others(preempting->picture->world, &w->pod) ||
		needs_claims(preempting->picture->world, &w->pod, &claims) != REASON_NONE) {
		return nowhere;
	}
	struct place_request r = {0};
	needs_ask(preempting->scheduling->needs, &w->pod, &claims, &r);
	struct preempt_want want = {
		.request = &r, .count = (uint32_t)w->pod.gpus, .whole = true, .held = w->hold};
	wholes_know_rooms(preempting->scheduling->wholes);
	return preempt_plan_make(preempting, &want);
}

static void preempt_for_whole(struct preempting *preempting, struct whole *w, struct emitter *out)
{
	const struct picture *picture = preempting->picture;
	struct preempt_plan found = plan_for(preempting, w);
	w->preempt_at = picture->time->now + PREEMPT_LATER_MS;
	if (found.node == WORLD_NONE || found.gpu_count == 0) {
		return;
	}
	enum evict_state state =
		found.first != NULL ? preempt_one(preempting->evictions, &w->pod, found.first, out)
				    : EVICT_GOING;
	bool goes_on = whole_is_held(preempting->scheduling->wholes, w);
	if (state != EVICT_SENT && !(goes_on && state == EVICT_GOING)) {
		w->preempt_at = goes_on ? picture->time->now + PREEMPT_SOON_MS : w->preempt_at;
		return;
	}
	CLEANUP(str_finish) struct str uuids = STR_INIT(MODEL_GPU_COUNT_MAX * GPU_UUID_MAX);
	gpus_list(picture, found.gpus, found.gpu_count, &uuids);
	text_set(&w->hold, str_text(&uuids));
	w->hold_until = picture->time->now + WHOLE_HOLD_MS;
	w->preempt_at = picture->time->now + PREEMPT_SOON_MS;
}

/* Those that come before the tenant; NULL: the rest. How many GPUs that took a look at. */
static size_t preempt_wholes(
	struct preempting *preempting, size_t *next, const struct pod *tenant, struct emitter *out)
{
	size_t looked_at = 0;
	for (; *next < preempting->scheduling->wholes->ranked.count; (*next)++) {
		struct whole *w = preempting->scheduling->wholes->ranked.items[*next];
		if (tenant != NULL && pod_rank_class(&w->pod, tenant) > 0) {
			break;
		}
		if (looked_at < LOOK_GPUS && whole_is_due(preempting->picture, w)) {
			looked_at += preempting->picture->snap.gpus.count;
			preempt_for_whole(preempting, w, out);
		}
	}
	return looked_at;
}

/* One after the other until that is enough for one look; the next goes on where it ended, so that
 * those for whom there is never anybody to displace do not keep the others from being looked at. */
static void look_round(struct preempting *p, struct emitter *out)
{
	const struct picture *picture = p->picture;
	size_t looked_at = 0, next = 0, i = p->from < p->scheduling->ranked->count ? p->from : 0;
	for (; i < p->scheduling->ranked->count && looked_at < LOOK_GPUS; i++) {
		struct waiter *w = p->scheduling->ranked->items[i];
		looked_at += preempt_wholes(p, &next, &w->pod, out);
		if (!is_due(picture, w)) {
			continue;
		}
		/* Nobody goes for a pod that the scheduler may refuse for what is not judged. */
		if (may_preempt_others(picture->world, &w->pod) && whole_is_judged(&w->pod)) {
			looked_at += picture->snap.gpus.count;
			preempt_for(p, w, out);
		} else {
			w->preempt_at = picture->time->now + PREEMPT_LATER_MS;
		}
	}
	p->from = i < p->scheduling->ranked->count ? i : 0;
	if (looked_at < LOOK_GPUS) {
		(void)preempt_wholes(p, &next, NULL, out);
	}
}

void preempt_tenants(struct preempting *preempting, struct emitter *out)
{
	const struct picture *picture = preempting->picture;
	/* An unfinished step has not looked at everybody. */
	if (out->plan->unfinished || preempting->scheduling->resume != 0 ||
		!anyone_is_due(preempting->scheduling)) {
		return;
	}
	if (picture->time->now < preempting->next_at) {
		wake_by(picture->time, preempting->next_at);
		return;
	}
	preempting->next_at = picture->time->now + LOOK_MS;
	incumbents_gather(preempting);
	look_round(preempting, out);
	if (anyone_is_due(preempting->scheduling)) {
		wake_by(picture->time, preempting->next_at);
	}
}

void preempting_finish(struct preempting *p)
{
	VEC_FINISH(&p->incumbents);
	preempt_search_finish(&p->search);
}
