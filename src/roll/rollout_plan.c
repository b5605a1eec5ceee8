/* The order in which a workload is asked: is there anything to do, may we at all, is something
 * under way, is it time, which pod, and how. The first that says no is what people are told. */
#include "roll/rollout_plan.h"

#include "base/number.h"
#include "base/str.h"
#include "owner/kinds.h"
#include "roll/course.h"
#include "roll/window.h"

/* Each of these answers true where it has decided. */

static bool block(struct roll_verdict *v, enum roll_why why, const char *blocker, int64_t next_ms)
{
	v->does = ROLL_BLOCKED;
	v->why = why;
	v->blocker = blocker;
	v->next_ms = next_ms;
	return true;
}

static bool verdict_wait(struct roll_verdict *v, enum roll_why why, int64_t next_ms)
{
	block(v, why, NULL, next_ms);
	v->does = ROLL_WAIT;
	return true;
}

static bool verdict_nothing(struct roll_verdict *v, enum roll_why why)
{
	block(v, why, NULL, 0);
	v->does = ROLL_NOTHING;
	return true;
}

/* --- is there anything to do --- */

static bool pod_lacks_target(const struct roll_pod *p)
{
	return !p->leaving && !p->up_to_date;
}

static bool check_work(const struct roll_ask *ask, struct roll_verdict *v)
{
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		if (pod_lacks_target(&ask->pods[i])) {
			return false;
		}
	}
	return verdict_nothing(v, ROLL_UP_TO_DATE);
}

static bool check_kind(const struct roll_ask *ask, struct roll_verdict *v)
{
	const struct owner_row *row =
		owner_row_find(view_of(text_or(ask->key->group, "")), ask->key->kind);
	enum rollout_strategy strategy =
		row != NULL && row->ongoing ? ROLLOUT_ONGOING : ROLLOUT_ON_CREATE;
	for (uint32_t i = ask->rollout->kind_count; i-- > 0;) {
		if (text_equals(ask->rollout->kinds[i].kind, ask->key->kind)) {
			strategy = ask->rollout->kinds[i].strategy;
		}
	}
	if (strategy != ROLLOUT_ONGOING) {
		return verdict_nothing(
			v, strategy == ROLLOUT_NEVER ? ROLL_NEVER_SIZED : ROLL_ON_CREATION);
	}
	if (ask->unsupported != NULL) {
		return block(v, ROLL_UNSUPPORTED, ask->unsupported, 0);
	}
	if (ask->bare) {
		return block(v, ROLL_UNSUPPORTED, "nobody makes its pods anew", 0);
	}
	if (ask->gang) {
		return block(v, ROLL_UNSUPPORTED, "its pods change together or not at all", 0);
	}
	if (row != NULL && row->leaves) {
		return block(v, ROLL_UNSUPPORTED, "its running pods would lose their work", 0);
	}
	return false;
}

/* --- may we --- */

static bool check_gate(const struct roll_ask *ask, struct roll_verdict *v)
{
	const struct roll_gate *g = &ask->gate;
	if (!g->leads) {
		return verdict_wait(v, ROLL_NOT_LEADING, 0);
	}
	if (g->synced_ms == 0 || ask->now_ms < g->synced_ms + ROLL_START_MS) {
		return verdict_wait(
			v, ROLL_STARTING, g->synced_ms == 0 ? 0 : g->synced_ms + ROLL_START_MS);
	}
	if (!g->reached || g->webhook_ms == 0 || ask->now_ms - g->webhook_ms > ROLL_WEBHOOK_MS) {
		return block(v, ROLL_WEBHOOK, NULL, 0);
	}
	return ask->closed != NULL && block(v, ROLL_CLOSED, ask->closed, 0);
}

static bool check_paused(struct roll *r, const struct roll_ask *ask, struct roll_verdict *v)
{
	int64_t until;
	if (r->rolls_back) {
		r->rolls_back = false;
		block(v, ROLL_PAUSED, NULL, r->paused_ms + ROLL_PAUSE_MS);
		v->does = ROLL_ROLLBACK;
		return true;
	}
	return roll_is_paused(r, ask->now_ms, &until) && block(v, r->paused, NULL, until);
}

/* What would end for want of memory has no samples while it is down, so healing waits for none. */
static bool check_measured(const struct roll_ask *ask, struct roll_verdict *v)
{
	return ask->cause == ROLL_SAVES &&
	       (ask->measured_ms == 0 || ask->now_ms - ask->measured_ms > ROLL_METRICS_MS) &&
	       block(v, ROLL_STALE, NULL, 0);
}

/* --- is it time --- */

static bool check_owner(const struct roll_ask *ask, struct roll_verdict *v)
{
	bool steps = text_equals(ask->key->kind, "Rollout");
	bool busy = ask->owner == ROLL_OWNER_BUSY || (steps && ask->owner == ROLL_OWNER_UNKNOWN);
	return busy && block(v, ROLL_OWNER_MOVES, ask->key->name, 0);
}

static bool check_scaler(const struct roll_ask *ask, struct roll_verdict *v)
{
	int64_t until = scaler_frozen_until(ask->scaler, ask->now_ms);
	return until != 0 &&
	       block(v, ROLL_SCALING, ask->scaler->name, until == INT64_MAX ? 0 : until);
}

static bool check_window(const struct roll_ask *ask, struct roll_verdict *v)
{
	struct window_answer w = window_judge(ask->rollout, ask->zones, ask->now_ms);
	if (ask->cause != ROLL_SAVES || w.open) {
		return false;
	}
	return w.bad_zone != NULL && w.next_ms == 0 ? block(v, ROLL_ZONE, w.bad_zone, 0)
						    : block(v, ROLL_WINDOW, NULL, w.next_ms);
}

/* Pods that follow one another to the same target are one change. */
static bool check_cooldown(const struct roll *r, const struct roll_ask *ask, struct roll_verdict *v)
{
	int64_t due = r->begun_ms + ask->rollout->cooldown_s * 1000;
	return ask->cause == ROLL_SAVES && r->begun_ms != 0 && r->revision != ask->revision &&
	       ask->now_ms < due && block(v, ROLL_COOLDOWN, NULL, due);
}

static bool check_refused(const struct roll *r, const struct roll_ask *ask, struct roll_verdict *v)
{
	/* Who is in need, and who is to have another share, waits no longer than after any refusal.
	 */
	bool anew = ask->cause == ROLL_HEALS || ask->revision != r->revision;
	int64_t most = r->refused_ms + ROLL_RETRY_CAP;
	int64_t due = anew && most < r->retry_ms ? most : r->retry_ms;
	return ask->now_ms < due && block(v, r->refused, r->blocker, due);
}

static bool check_replicas(const struct roll_ask *ask, struct roll_verdict *v)
{
	return roll_replicas(ask) < ask->rollout->min_replicas &&
	       block(v, ROLL_MIN_REPLICAS, NULL, 0);
}

/* --- which pod --- */

/* Who leaves no room for the new one goes only where it need not; what is not Ready serves nobody;
 * of a StatefulSet the last one goes first; then the oldest. */
static bool replaced_before(const struct roll_pod *a, const struct roll_pod *b)
{
	if (a->fits_after != b->fits_after) {
		return a->fits_after;
	}
	if ((a->ready_ms == 0) != (b->ready_ms == 0)) {
		return a->ready_ms == 0;
	}
	if (a->ordinal != b->ordinal) {
		return a->ordinal > b->ordinal;
	}
	if (a->created_ms != b->created_ms) {
		return a->created_ms < b->created_ms;
	}
	return strcmp(a->uid, b->uid) < 0;
}

struct count {
	int32_t replicas, present, ready;
};

/* Of the same owner: what one has serves nobody of another's in the same group. */
static struct count count_owner_pods(const struct roll_ask *ask, const struct roll_pod *of)
{
	struct count n = {.replicas = of->owner == 0 ? roll_replicas(ask) : 0};
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		const struct roll_pod *p = &ask->pods[i];
		if (p->owner != of->owner) {
			continue;
		}
		/* who leaves and is Ready will be missed */
		n.replicas += of->owner != 0 && (!p->leaving || p->ready_ms != 0) ? 1 : 0;
		n.present += p->leaving ? 0 : 1;
		n.ready += !p->leaving && p->ready_ms != 0 ? 1 : 0;
	}
	return n;
}

/* Whoever lets us do without the last one does so for another share, and not for another GPU. */
static bool is_last(const struct roll_ask *ask, const struct roll_pod *p, const struct count *n)
{
	bool may_be_last = ask->rollout->evicts && ask->cause != ROLL_MOVES;
	return p->ready_ms != 0 && n->ready < 2 && !may_be_last;
}

/* Why this one does not go now; UP_TO_DATE: it may. */
static enum roll_why check_replaceable(
	const struct roll_ask *ask, const struct roll_fleet *fleet, const struct roll_pod *p)
{
	int64_t grown_up = p->created_ms + ask->rollout->min_pod_age_s * 1000;
	if (p->irretrievable) {
		return ROLL_UNSUPPORTED;
	}
	if (p->must_stay) {
		return ROLL_MUST_STAY;
	}
	if (ask->cause == ROLL_SAVES && ask->now_ms < grown_up) {
		return ROLL_YOUNG;
	}
	if (p->owner != 0) { /* in a group another owner's may go instead */
		const struct count n = count_owner_pods(ask, p);
		if (n.replicas < ask->rollout->min_replicas) {
			return ROLL_MIN_REPLICAS;
		}
		if (is_last(ask, p, &n)) {
			return ROLL_LAST_READY;
		}
	}
	return roll_fleet_is_busy(fleet, p->node) ? ROLL_NODE_BUSY : ROLL_UP_TO_DATE;
}

static const char *why_not_beside(const struct roll_ask *ask)
{
	return ask->rollout->evicts ? "the policy says Evict" : ask->surge_unfit;
}

/* Nobody may go: the pod that may soonest says why. */
static bool none_goes(const struct roll_ask *ask, const uint32_t *kept, struct roll_verdict *v)
{
	static const enum roll_why order[] = {ROLL_NODE_BUSY, ROLL_YOUNG, ROLL_LAST_READY,
		ROLL_MIN_REPLICAS, ROLL_MUST_STAY, ROLL_UNSUPPORTED};
	enum roll_why why = ROLL_UNSUPPORTED;
	for (size_t i = COUNT_OF(order); i-- > 0;) {
		why = kept[order[i]] != UINT32_MAX ? order[i] : why;
	}
	v->pod = kept[why];
	const struct roll_pod *p = &ask->pods[v->pod];
	bool young = why == ROLL_YOUNG;
	const char *blocker =
		why == ROLL_NODE_BUSY	 ? p->node
		: why == ROLL_LAST_READY ? why_not_beside(ask)
		: why == ROLL_UNSUPPORTED
			? "those that are left end by themselves, start together or have no owner"
			: p->name;
	block(v, why, blocker, young ? p->created_ms + ask->rollout->min_pod_age_s * 1000 : 0);
	v->does = why == ROLL_NODE_BUSY ? ROLL_WAIT : ROLL_BLOCKED;
	return true;
}

static bool pick_pod(
	const struct roll_ask *ask, const struct roll_fleet *fleet, struct roll_verdict *v)
{
	uint32_t best[ROLL_WHYS];
	for (size_t i = 0; i < ROLL_WHYS; i++) {
		best[i] = UINT32_MAX;
	}
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		const struct roll_pod *p = &ask->pods[i];
		if (!pod_lacks_target(p)) {
			continue;
		}
		uint32_t *slot = &best[check_replaceable(ask, fleet, p)];
		if (*slot == UINT32_MAX || replaced_before(p, &ask->pods[*slot])) {
			*slot = i;
		}
	}
	if (best[ROLL_UP_TO_DATE] == UINT32_MAX) {
		return none_goes(ask, best, v);
	}
	v->pod = best[ROLL_UP_TO_DATE];
	return false;
}

/* --- how --- */

static int64_t max_unavailable(const struct roll_ask *ask, int32_t replicas)
{
	int64_t most = ask->rollout->max_unavailable;
	if (ask->rollout->max_unavailable_is_percent) {
		most = most * replicas / 100;
	}
	return most > 1 ? most : 1;
}

/* The adopted pod must be the one too many, and the old one the one that goes (C25): that is so
 * only where all are there and Ready. */
static bool could_surge(const struct roll_ask *ask, const struct count *n)
{
	return !ask->rollout->evicts && ask->surge_unfit == NULL && n->present == n->replicas &&
	       n->ready == n->present;
}

/* The first of the same owner that is there and not Ready; NULL: those that are there are. */
static const char *who_is_away(const struct roll_ask *ask, const struct roll_pod *of)
{
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		const struct roll_pod *p = &ask->pods[i];
		if (p->owner == of->owner && !p->leaving && p->ready_ms == 0) {
			return p->name;
		}
	}
	return NULL;
}

/* Why this pod is not evicted; UP_TO_DATE: it is. */
static bool check_evict(const struct roll_ask *ask, const struct count *n, struct roll_verdict *v)
{
	bool serves = ask->pods[v->pod].ready_ms != 0;
	int64_t away = n->replicas > n->ready ? n->replicas - n->ready : 0;
	if (is_last(ask, &ask->pods[v->pod], n)) {
		return block(v, could_surge(ask, n) ? ROLL_NO_ROOM : ROLL_LAST_READY,
			why_not_beside(ask), 0);
	}
	if (serves && away + 1 > max_unavailable(ask, n->replicas)) {
		return block(v, ROLL_NOT_READY, who_is_away(ask, &ask->pods[v->pod]), 0);
	}
	if (ask->budget.known && ask->budget.allowed < 1) {
		return block(v, ROLL_BUDGET, ask->budget.name, 0);
	}
	return !ask->pods[v->pod].fits_after && block(v, ROLL_NO_ROOM, NULL, 0);
}

static bool choose_surge_or_evict(
	struct roll_fleet *fleet, const struct roll_ask *ask, struct roll_verdict *v)
{
	struct count n = count_owner_pods(ask, &ask->pods[v->pod]);
	bool room = ask->room == ROLL_ROOM_NODE ? ask->rollout->may_add_nodes
						: ask->room != ROLL_ROOM_NONE;
	bool surges = room && could_surge(ask, &n);
	if (!surges && check_evict(ask, &n, v)) {
		return true;
	}
	int64_t due = roll_fleet_due(fleet, ask->now_ms);
	if (due > ask->now_ms) {
		return block(v, ROLL_GLOBAL_BUDGET, NULL, due);
	}
	v->does = surges ? ROLL_SURGE : ROLL_EVICT;
	return true;
}

/* A clock that was ahead and is set right leaves times that are to come: nothing waits for those.
 */
static void roll_clamp_to_now(struct roll *r, int64_t now_ms)
{
	r->begun_ms = smaller_of(r->begun_ms, now_ms);
	r->since_ms = smaller_of(r->since_ms, now_ms);
	r->paused_ms = smaller_of(r->paused_ms, now_ms);
	r->returned_ms = smaller_of(r->returned_ms, now_ms);
	if (r->refused_ms > now_ms) { /* how long it waits stays as it was */
		r->retry_ms -= r->refused_ms - now_ms;
		r->refused_ms = now_ms;
	}
}

void roll_plan(struct roll *r, struct roll_fleet *fleet, const struct roll_ask *ask,
	struct roll_verdict *ret)
{
	int64_t next;
	*ret = (struct roll_verdict){0};
	roll_clamp_to_now(r, ask->now_ms);
	if (roll_follow(r, fleet, ask, &next)) {
		verdict_wait(ret, ROLL_UNDER_WAY, next);
		return;
	}
	(void)(check_paused(r, ask, ret) || check_work(ask, ret) || check_kind(ask, ret) ||
		check_gate(ask, ret) || check_measured(ask, ret) || check_owner(ask, ret) ||
		check_scaler(ask, ret) || check_window(ask, ret) || check_cooldown(r, ask, ret) ||
		check_refused(r, ask, ret) || check_replicas(ask, ret) ||
		pick_pod(ask, fleet, ret) || choose_surge_or_evict(fleet, ask, ret));
}

bool roll_makes_way(struct roll_fleet *fleet, const struct roll_ask *ask, uint32_t pod)
{
	struct roll_verdict v = {0};
	const struct roll_pod *p = &ask->pods[pod];
	for (uint32_t i = 0; i < ask->pod_count; i++) {
		if (ask->pods[i].leaving) {
			return false; /* one at a time */
		}
	}
	if (p->ready_ms != 0 || p->must_stay || p->irretrievable ||
		roll_fleet_is_busy(fleet, p->node) ||
		(ask->budget.known && ask->budget.allowed < 1)) {
		return false;
	}
	return !check_kind(ask, &v) && !check_gate(ask, &v) && !check_owner(ask, &v) &&
	       !check_scaler(ask, &v) && roll_fleet_due(fleet, ask->now_ms) <= ask->now_ms;
}
