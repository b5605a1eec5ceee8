/* What becomes of a replacement that was begun. The pods tell it, not the answer to the write: the
 * old one goes, a new one comes, and only what it does then counts. */
#include "roll/course.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/str.h"
#include "roll/rollout_explain.h"

/* --- what stops a workload --- */

static void pause_at(struct roll *r, enum roll_why why, int64_t now_ms)
{
	r->paused = why;
	r->paused_ms = now_ms;
}

void roll_resume(struct roll *r)
{
	r->paused = ROLL_UP_TO_DATE;
	r->paused_ms = 0;
	r->failures = r->no_effect = 0;
	r->rolls_back = false;
}

/* Twice as long each time, up to the cap. */
static int64_t doubled(int64_t first_ms, int32_t times, int64_t cap_ms)
{
	int64_t wait = first_ms;
	for (int32_t i = 1; i < times && wait < cap_ms; i++) {
		wait *= 2;
	}
	return smaller_of(wait, cap_ms);
}

static int64_t whole_for(const struct roll *r)
{
	return doubled(ROLL_BACK_MS, r->returns, ROLL_BACK_CAP);
}

bool roll_is_paused(struct roll *r, int64_t now_ms, int64_t *ret_until_ms)
{
	bool ends = r->paused == ROLL_PAUSED || r->paused == ROLL_GIVEN_BACK;
	int64_t lasts = r->paused == ROLL_GIVEN_BACK ? whole_for(r) : ROLL_PAUSE_MS;
	*ret_until_ms = ends ? r->paused_ms + lasts : 0;
	if (ends && now_ms >= *ret_until_ms) {
		roll_resume(r);
		*ret_until_ms = 0;
	}
	return r->paused != ROLL_UP_TO_DATE;
}

void roll_finish(struct roll *r)
{
	free(r->blocker);
	r->blocker = NULL;
}

void roll_restore(struct roll *r, const struct recommendation *told)
{
	static const enum roll_why stops[] = {
		ROLL_PAUSED, ROLL_WITHOUT_EFFECT, ROLL_SURGE_LOST, ROLL_GIVEN_BACK};
	const struct recommended_condition *c = &told->conditions[RECOMMENDATION_PAUSED];
	roll_finish(r);
	*r = (struct roll){.revision = -1};
	if (told->last_update.result != UPDATE_NONE) {
		r->begun_ms = told->last_update.at_ms;
		r->returns = told->last_update.times > 0 ? told->last_update.times : 0;
		r->returned_ms = told->last_update.at_ms;
	}
	if (c->status != CONDITION_TRUE) {
		return;
	}
	/* A reason of somebody else's stops it no less, and ends like the first. */
	pause_at(r, ROLL_PAUSED, c->since_ms);
	for (size_t i = 0; i < COUNT_OF(stops); i++) {
		if (text_equals(c->reason, roll_why_name(stops[i]))) {
			r->paused = stops[i];
		}
	}
	/* The condition may be older: it was true for another reason before. */
	if (r->paused == ROLL_GIVEN_BACK && r->paused_ms < r->returned_ms) {
		r->paused_ms = r->returned_ms;
	}
}

/* --- what is under way --- */

static void replacement_end(struct roll *r, struct roll_fleet *fleet)
{
	roll_fleet_end(fleet, r->id);
	r->doing = ROLL_NOTHING;
	r->restarts = 0;
	r->moves = r->succeeded = false;
	r->id = 0;
}

/* What did well for a day begins anew. */
bool roll_give_back(struct roll *r, struct roll_fleet *fleet, int64_t now_ms)
{
	if (r->doing == ROLL_SURGE) {
		return false;
	}
	if (r->doing == ROLL_EVICT) {
		replacement_end(r, fleet);
	}
	if (r->returns > 0 && now_ms - r->returned_ms - whole_for(r) >= ROLL_BACK_CAP) {
		r->returns = 0;
	}
	r->returns += r->returns < INT32_MAX;
	r->returned_ms = now_ms;
	r->rolls_back = false;
	pause_at(r, ROLL_GIVEN_BACK, now_ms);
	return true;
}

/* What costs a GPU for minutes each time is tried ever less often. */
static void replacement_refused(
	struct roll *r, enum roll_why why, const struct roll_ending *e, int64_t now_ms)
{
	int64_t cap = e->made ? ROLL_SURGE_CAP : ROLL_RETRY_CAP;
	r->refusals += r->refusals < INT32_MAX ? 1 : 0;
	r->fruitless += e->made && r->fruitless < INT32_MAX ? 1 : 0;
	r->refused = why;
	r->refused_ms = now_ms;
	int64_t wait = doubled(ROLL_RETRY_MS, e->made ? r->fruitless : r->refusals, cap);
	r->retry_ms = now_ms + smaller_of(larger_of(wait, e->wait_ms), cap);
	char *former = r->blocker;
	r->blocker =
		text_empty(e->by) ? NULL : xstrndup(e->by, strnlen(e->by, ROLL_BLOCKER_MAX - 1));
	free(former);
}

/* True: once too often. */
static bool replacement_failed(struct roll *r, struct roll_fleet *fleet, int64_t now_ms)
{
	if (r->moves) {
		/* Not for another share did it go: there is none to go back to. */
		const struct roll_ending late = {
			ROLL_END_REFUSED, "the pod that moved is not Ready", ROLL_SURGE_CAP, true};
		replacement_refused(r, ROLL_REFUSED, &late, now_ms);
		replacement_end(r, fleet);
		return true;
	}
	if (++r->failures < ROLL_FAILURES) {
		return false;
	}
	pause_at(r, ROLL_PAUSED, now_ms);
	r->rolls_back = true;
	replacement_end(r, fleet);
	return true;
}

static const struct roll_pod *newcomer(const struct roll *r, const struct roll_ask *ask)
{
	const struct roll_pod *found = NULL;
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		const struct roll_pod *p = &ask->pods[i];
		if (!p->leaving && p->created_ms > r->newest_ms &&
			(found == NULL || p->created_ms > found->created_ms)) {
			found = p;
		}
	}
	return found;
}

static bool follow_ready(struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask,
	const struct roll_pod *p, int64_t *ret_next_ms)
{
	*ret_next_ms = p->ready_ms + larger_of(ask->min_ready_ms, ROLL_SOAK_MS);
	if (ask->now_ms < *ret_next_ms) {
		return true;
	}
	if (p->sample_ms >= p->ready_ms) {
		r->failures = r->no_effect = r->refusals = r->fruitless = r->returns = 0;
		replacement_end(r, fleet);
		r->succeeded = true;
		return false;
	}
	/* Nobody measures it. Whether that is the pod's fault nobody can tell, and what is not
	 * measured is not changed any further. */
	*ret_next_ms = r->since_ms + ROLL_READY_MS;
	if (ask->now_ms < *ret_next_ms) {
		return true;
	}
	replacement_end(r, fleet);
	return false;
}

static int32_t present(const struct roll_ask *ask)
{
	int32_t n = 0;
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		n += ask->pods[i].leaving ? 0 : 1;
	}
	return n;
}

int32_t roll_replicas(const struct roll_ask *ask)
{
	return ask->replicas >= 0 ? ask->replicas : present(ask);
}

/* It is not there, or not Ready, for too long: counted, and given as long again. */
static bool follow_late(struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask,
	const struct roll_pod *p, int64_t *ret_next_ms)
{
	*ret_next_ms = r->since_ms + ROLL_READY_MS;
	if (ask->now_ms < *ret_next_ms) {
		return true;
	}
	if (p == NULL && present(ask) >= roll_replicas(ask)) {
		replacement_end(r, fleet); /* there are fewer now, and nobody is missed */
		return false;
	}
	if (replacement_failed(r, fleet, ask->now_ms)) {
		return false;
	}
	r->since_ms = ask->now_ms;
	*ret_next_ms = ask->now_ms + ROLL_READY_MS;
	return true;
}

/* What takes minutes to start restarts slowly: it is counted, and given as long again. True: it is
 * followed no more. */
static bool follow_restarts(struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask,
	const struct roll_pod *p)
{
	if (p->restarts < r->restarts) {
		r->restarts = 0; /* it is another one */
	}
	if (p->restarts - r->restarts >= ROLL_RESTARTS) {
		if (replacement_failed(r, fleet, ask->now_ms)) {
			return true;
		}
		r->restarts = p->restarts;
		r->since_ms = ask->now_ms;
	}
	bool makes_way = r->restarts > 0 && ask->cause == ROLL_HEALS && !p->up_to_date;
	if (makes_way) {
		replacement_end(r, fleet); /* for one that has more */
	}
	return makes_way;
}

bool roll_follow(
	struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask, int64_t *ret_next_ms)
{
	*ret_next_ms = 0;
	if (r->doing == ROLL_SURGE) {
		return true; /* whoever steps the surge says how it ends */
	}
	if (r->doing != ROLL_EVICT) {
		return false;
	}
	const struct roll_pod *p = newcomer(r, ask);
	if (p != NULL && !p->sized) { /* it came as if we were not there */
		if (++r->no_effect >= ROLL_NO_EFFECT) {
			pause_at(r, ROLL_WITHOUT_EFFECT, ask->now_ms);
		}
		replacement_end(r, fleet);
		return false;
	}
	if (p != NULL && follow_restarts(r, fleet, ask, p)) {
		return false;
	}
	if (p != NULL && p->ready_ms != 0) {
		return follow_ready(r, fleet, ask, p, ret_next_ms);
	}
	return follow_late(r, fleet, ask, p, ret_next_ms);
}

/* --- begin and end --- */

void roll_begin(struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask,
	const struct roll_verdict *v)
{
	const struct roll_pod *victim = &ask->pods[v->pod];
	r->newest_ms = 0;
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		r->newest_ms = larger_of(r->newest_ms, ask->pods[i].created_ms);
	}
	r->doing = v->does;
	r->since_ms = r->begun_ms = ask->now_ms;
	r->revision = ask->revision;
	r->moves = ask->cause == ROLL_MOVES;
	r->id = roll_fleet_begin(fleet, victim->node, ask->now_ms);
}

/* The budget of all workloads is for pods that go: a surge that was given up took none, and while
 * it was under way it counted. */
void roll_settle(
	struct roll *r, struct roll_fleet *fleet, const struct roll_ending *e, int64_t now_ms)
{
	switch (e->end) {
	case ROLL_END_DONE:
		if (r->doing == ROLL_SURGE) {
			r->doing = ROLL_EVICT; /* from here on it is the same */
			r->since_ms = now_ms;
		}
		return;
	case ROLL_END_GONE:
		return;
	case ROLL_END_BUDGET:
		replacement_refused(r, ROLL_BUDGET, e, now_ms);
		roll_fleet_cancel(fleet, r->id);
		break;
	case ROLL_END_REFUSED:
		replacement_refused(r, ROLL_REFUSED, e, now_ms);
		roll_fleet_cancel(fleet, r->id);
		break;
	case ROLL_END_LOST:
		pause_at(r, ROLL_SURGE_LOST, now_ms);
		break;
	}
	replacement_end(r, fleet);
}
