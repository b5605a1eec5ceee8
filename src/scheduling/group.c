/* Tenants of several GPUs: all or nothing. */
#include "group.h"

#include "capacity/inject.h"
#include "capacity/inject_class.h"
#include "capacity/open_gpu.h"
#include "demand/needs.h"
#include "demand/neighbours.h"
#include "demand/quota_usage.h"
#include "demand/wholes.h"
#include "ledger/ledger.h"
#include "scheduling/emit_grant.h"
#include "scheduling/scheduling.h"
#include "request.h"

static bool gives_back(const struct group *g)
{
	return g->gives.count > 0;
}

/* And so that a container there gets its GPU. */
static bool all_acknowledged(struct injecting *inject, struct waiter *w)
{
	const struct group *g = &w->group;
	for (size_t i = 0; i < g->granted.count; i++) {
		struct holder *h = g->granted.items[i].holder;
		if (h->asked_holds || !h->in_world || h->pod.identity == NULL ||
			text_empty(h->pod.node) || inject_awaits(inject, w, h)) {
			return false;
		}
	}
	return true;
}

/* What an earlier term had sent may be done late: it struck halves out of a ledger that has not
 * changed since, though whoever had them is whole by now. So each ledger is written anew first. */
static bool all_sure(struct picture *picture, const struct group *g)
{
	bool sure = true;
	for (size_t i = 0; i < g->granted.count; i++) {
		const struct holder *h = g->granted.items[i].holder;
		picture->snap_gpus.items[h->snap_at].confirms = !h->trust.sure;
		sure = sure && h->trust.sure;
	}
	return sure;
}

/* --- some or none are --- */

/* On GPUs that there are or are opened now; false: the waiter has the reason. */
static bool find_gpus(
	struct scheduling *sched, struct waiter *w, struct emitter *out, struct place_group *ret)
{
	struct picture *picture = sched->picture;
	uint32_t have = waiter_count(w) - ret->count;
	struct place_party party = {
		.request = &w->asked, .count = ret->count, .node = PLACE_NOWHERE};
	for (uint32_t i = 0; i < have; i++) {
		const struct holder *h = w->group.granted.items[i].holder;
		party.has[party.has_count++] = h->snap_at;
		party.node = picture->snap.gpus.items[h->snap_at].node;
	}
	struct place_group g = place_group(&picture->snap, &party);
	picture->looked_at += g.looked_at;
	ret->count = 0;
	if (g.node == PLACE_NOWHERE) {
		w->reason = g.reason;
		w->group.best_count = have + g.best_count;
		w->miss = (struct place_verdict){.gpu = PLACE_NOWHERE,
			.node = PLACE_NOWHERE,
			.best_node = g.best_node,
			.best_gpu = PLACE_NOWHERE};
		const struct place_keep *k = place_group_kept_from(&picture->snap, &party);
		if (k != NULL) {
			keeper_note(sched->wholes, w, k);
		}
		return false;
	}
	while (g.count < party.count) {
		struct place_verdict open = {.gpu = PLACE_NOWHERE, .node = g.node};
		if (!open_gpu(sched->scale, w, out, &open)) {
			w->reason = REASON_WAITING_FOR_CAPACITY;
			return false;
		}
		g.gpus[g.count++] = open.gpu;
	}
	if (have == 0) {
		place_reserve_pod(&picture->snap, &picture->snap.nodes.items[g.node], &w->pod);
	}
	*ret = g;
	return true;
}

/* Out of the picture, and into the ledgers if all of them can be written now. */
static void take_gpus(struct scheduling *sched, struct waiter *w, const struct place_group *g,
	struct emitter *out)
{
	struct picture *picture = sched->picture;
	struct holder *opening = NULL;
	bool busy = view_lags(picture->book);
	if (g->count == waiter_count(w)) {
		neighbours_arrive(sched->needs, g->node, &w->pod, false);
	}
	wholes_picture_changed(sched->wholes);
	quotas_take(sched->quotas, w, g->milli * (int64_t)waiter_count(w));
	for (uint32_t i = 0; i < g->count; i++) {
		struct snap_gpu *s = &picture->snap_gpus.items[g->gpus[i]];
		enum gpu_state state = picture->snap.gpus.items[g->gpus[i]].state;
		company_comes(sched->companies, w, g->gpus[i]);
		place_reserve_share(&picture->snap, &w->asked, g->gpus[i], g->milli, g->mem_mib);
		s->demand++;
		s->holder->wanted = picture->time->step;
		opening = state == GPU_OPENING ? s->holder : opening;
		busy = busy || state == GPU_BUSY || !flights_room(picture->book);
	}
	w->reason = REASON_GRANTING;
	if (opening != NULL) {
		await_creation(sched->inject, w, opening, out);
		return;
	}
	for (uint32_t i = 0; i < g->count; i++) {
		if (inject_awaits(sched->inject, w, picture->snap_gpus.items[g->gpus[i]].holder)) {
			return;
		}
	}
	for (uint32_t i = 0; i < g->count && !busy; i++) {
		note_chosen(sched, &(struct chosen){w, g->gpus[i], g->milli, g->mem_mib});
	}
}

/* True: there might be GPUs for it, and none suit it now. */
static bool decide_missing(
	struct scheduling *sched, struct waiter *w, uint32_t have, struct emitter *out)
{
	struct picture *picture = sched->picture;
	struct claims_of claims;
	struct place_group g = {.count = waiter_count(w) - have};
	if (!waiter_asks(sched, w, &claims)) {
		return false;
	}
	const struct place_request said = w->asked;
	if (have > 0) {
		/* What stands in the books is what it gets. */
		const struct granted *first = &w->group.granted.items[0];
		const struct grant *entry = &holder_ledger(first->holder)->items[first->index];
		w->asked.milli = entry->milli;
		w->asked.mem_mib = entry->mem_mib;
	}
	landings_lift(picture, w);
	hold_lift(picture, w);
	bool found = find_gpus(sched, w, out, &g);
	hold_settle_group(picture, w, &g);
	landings_settle_group(picture, w, &g);
	waiter_asked(w);
	if (found) {
		take_gpus(sched, w, &g, out);
	}
	/* It is told what it asked for. */
	w->asked.milli = said.milli;
	w->asked.mem_mib = said.mem_mib;
	return !found && w->reason != REASON_WAITING_FOR_CAPACITY;
}

/* All that it has, on whatever node. */
static void give_all_back(struct picture *picture, struct waiter *w)
{
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		const struct holder *h = picture->book->holders.items[i];
		if (ledger_has(holder_ledger(h), w->uid)) {
			VEC_PUSH(&w->group.gives, hash_text(text_or(h->uid, "")));
		}
	}
	picture->time->dirty = true;
}

/* True: it is past completing. Where a placement may land yet it would land on these GPUs, so they
 * stay its own until it cannot. */
static bool past_completing(struct picture *picture, struct waiter *w)
{
	struct group *g = &w->group;
	if (g->partial_since == 0 || g->partial_set != g->set) {
		g->partial_since = picture->time->now > 0 ? picture->time->now : 1;
		g->partial_set = g->set;
	}
	int64_t most = picture->cfg->partial_ms;
	wake_by(picture->time, g->partial_since + most);
	if (picture->time->now - g->partial_since >= most && w->landings.count == 0) {
		give_all_back(picture, w);
	}
	return gives_back(g);
}

bool group_decide(struct scheduling *sched, struct waiter *w, struct emitter *out)
{
	struct group *g = &w->group;
	uint32_t have =
		w->granted_step == sched->picture->time->step ? (uint32_t)g->granted.count : 0;
	w->reason = REASON_GRANTING;
	if (have == 0) {
		VEC_CLEAR(&g->gives);
	}
	if (have == 0 || have >= waiter_count(w)) {
		g->partial_since = 0;
	}
	if (have >= waiter_count(w) && !gives_back(g)) {
		/* As for one GPU: what the watch has brought back, and a node that is known (C21).
		 */
		if (all_acknowledged(sched->inject, w) && all_sure(sched->picture, g) &&
			!view_lags(sched->picture->book) && flights_room(sched->picture->book)) {
			emit_place(sched, w, g->granted.items, g->granted.count, out);
		}
		return false;
	}
	if (have == 0 || !(gives_back(g) || past_completing(sched->picture, w))) {
		return decide_missing(sched, w, have, out);
	}
	/* What it gives back is too little: it lacks as before. */
	return w->passed.lacks_since >= 0;
}
