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
#include "scheduling/preempt_plan.h"
#include "scheduling/scheduling.h"

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

/* When it may preempt; `lacks_since` -1: it does not lack anything. */
static int64_t due_at(const struct picture *picture, int64_t lacks_since, int64_t preempt_at)
{
	int64_t at = lacks_since + picture->cfg->lacks_ms;
	return lacks_since < 0 ? TIME_NEVER : at > preempt_at ? at : preempt_at;
}

static bool is_due(const struct picture *picture, const struct waiter *w)
{
	/* One that was granted some of its GPUs completes them or gives them back (group.c). */
	return w->granted_step != picture->time->step && lacks_room(w->reason) &&
	       picture->time->now >= due_at(picture, w->passed.lacks_since, w->preempt_at);
}

static bool whole_is_due(const struct picture *picture, const struct whole *w)
{
	return picture->time->now >= due_at(picture, w->lacks_since, w->preempt_at) &&
	       whole_is_judged(&w->pod) && w->pod.gpus <= MODEL_GPU_COUNT_MAX;
}

static bool anyone_is_due(struct scheduling *sched)
{
	const struct picture *picture = sched->picture;
	bool due = false;
	vec_for_each (struct waiter *const, w, sched->ranked) {
		due = due || is_due(picture, *w);
		wake_by(picture->time, due_at(picture, (*w)->passed.lacks_since, (*w)->preempt_at));
	}
	vec_for_each (struct whole *const, w, &sched->wholes->ranked) {
		due = due || whole_is_due(picture, *w);
		wake_by(picture->time, due_at(picture, (*w)->lacks_since, (*w)->preempt_at));
	}
	return due;
}

/* All that was asked when a GPU was looked for, which lasted for that look only. */
static struct preempt_plan plan_for(struct preempting *preempting, struct waiter *w)
{
	struct picture *picture = preempting->picture;
	struct scheduling *sched = preempting->scheduling;
	struct preempt_plan plan = {.node = WORLD_NONE};
	struct place_request r = w->asked;
	struct claims_of claims;
	struct quota_view quota;
	uint32_t count = waiter_count(w);
	if (needs_claims(picture->world, &w->pod, &claims) != REASON_NONE) {
		return plan;
	}
	int64_t left = quotas_left(sched->quotas, w, &quota) / count;
	r.company = manners_of_waiter(sched->companies, w).company;
	r.mps = pod_is_mps(&w->pod);
	needs_ask(sched->needs, &w->pod, &claims, &r);
	r.quota_left_milli = quota.name != NULL ? left : 0;
	if (quota.name != NULL && left <= 0) {
		return plan;
	}
	landings_lift(picture, w);
	hold_lift(picture, w);
	if (count > 1) {
		plan = preempt_plan_several(
			preempting, &(struct preempt_want){
					    .request = &r, .count = count, .held = w->hold.uuid});
	} else {
		plan = preempt_plan_one(preempting, w, &r);
	}
	hold_settle(picture, w, NULL);
	landings_settle(picture, w, NULL);
	return plan;
}

/* The next of those who have to go is asked to. The UUIDs of the plan's GPUs, those that are known,
 * if what that frees is to be held for the pod; NULL: it is not. What somebody else's departure
 * frees is held only where it is held already: it goes to whoever ranks first. */
static const char *carry_out(struct preempting *preempting, const struct preempt_plan *plan,
	const struct pod *pod, bool is_held, struct emitter *out)
{
	const struct picture *picture = preempting->picture;
	enum evict_state state = EVICT_GOING;
	if (plan->first != NULL) {
		char name[512];
		snprintf(name, sizeof name, "%.200s/%.253s", pod->ns, pod->name);
		struct evict_why why = {.reason = REASON_PREEMPTED,
			.facts = {.name = name, .limit = pod->priority}};
		state = evict_tenant(preempting->evictions, plan->first, &why, out);
	}
	bool holds = state == EVICT_SENT || (is_held && state == EVICT_GOING);
	CLEANUP(str_finish) struct str uuids = STR_INIT(MODEL_GPU_COUNT_MAX * GPU_UUID_MAX);
	for (uint32_t i = 0; i < plan->gpu_count; i++) {
		const struct holder *h = picture->snap_gpus.items[plan->gpus[i]].holder;
		if (h->pod.identity != NULL) {
			str_append_text(&uuids, uuids.len > 0 ? "," : "");
			str_append_text(&uuids, h->pod.identity->uuid);
		}
	}
	return holds ? arena_strdup(&out->plan->arena, str_text(&uuids)) : NULL;
}

static void preempt_for(struct preempting *preempting, struct waiter *w, struct emitter *out)
{
	const struct picture *picture = preempting->picture;
	struct preempt_plan plan = plan_for(preempting, w);
	w->preempt_at = picture->time->now + PREEMPT_LATER_MS;
	/* Nobody goes for who may get nothing there. */
	if (plan.gpu_count == 0 || inject_asks(preempting->scheduling->inject, &w->pod,
					   picture->snap_gpus.items[plan.gpus[0]].holder)) {
		return;
	}
	bool is_held = hold_is_on(w, plan.gpus[0]);
	const char *uuids = carry_out(preempting, &plan, &w->pod, is_held, out);
	if (uuids != NULL || is_held) {
		w->preempt_at = picture->time->now + PREEMPT_SOON_MS;
	}
	if (uuids != NULL) {
		hold_make(picture->time, w, uuids, &plan.cost.share);
	}
}

/* The same for whole GPUs. What that frees is kept for it for a minute, whoever ranks before: it
 * comes first in the walk, and what it still lacks is out of the picture for everybody
 * (docs/design/fairness.md). */
#define WHOLE_HOLD_MS 60000

static void preempt_for_whole(struct preempting *preempting, struct whole *w, struct emitter *out)
{
	const struct picture *picture = preempting->picture;
	struct wholes *wholes = preempting->scheduling->wholes;
	struct claims_of claims;
	w->preempt_at = picture->time->now + PREEMPT_LATER_MS;
	if (!may_preempt_others(picture->world, &w->pod) ||
		needs_claims(picture->world, &w->pod, &claims) != REASON_NONE) {
		return;
	}
	struct place_request r = {0};
	needs_ask(wholes->needs, &w->pod, &claims, &r);
	wholes_know_rooms(wholes);
	struct preempt_plan plan = preempt_plan_several(preempting,
		&(struct preempt_want){&r, (uint32_t)w->pod.gpus, .whole = true, .held = w->hold});
	if (plan.gpu_count == 0) {
		return;
	}
	bool is_held = whole_is_held(wholes, w);
	const char *uuids = carry_out(preempting, &plan, &w->pod, is_held, out);
	if (uuids != NULL || is_held) {
		w->preempt_at = picture->time->now + PREEMPT_SOON_MS;
	}
	if (uuids != NULL) {
		text_set(&w->hold, uuids);
		w->hold_until = picture->time->now + WHOLE_HOLD_MS;
	}
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
	if (out->plan->unfinished || !anyone_is_due(preempting->scheduling)) {
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
