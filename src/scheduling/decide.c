/* Step 4: where each of those who wait goes. */
#include "scheduling/decide.h"

#include "capacity/inject_class.h"
#include "capacity/open_gpu.h"
#include "demand/gpu_avoidance.h"
#include "demand/needs.h"
#include "demand/neighbours.h"
#include "demand/quota_usage.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "ledger/ledger.h"
#include "model/names.h"
#include "model/refusal.h"
#include "scheduling/emit_grant.h"
#include "scheduling/scheduling.h"
#include "scheduling/whole.h"
#include "group.h"
#include "request.h"
#include "reserve.h"

/* Waits for something that is on its way, or for what only we can do. */
static bool held_back(struct step_time *time, struct waiter *w)
{
	if (w->flight != 0 || w->placed_rv != NULL) {
		if (w->placed_rv != NULL && time->now >= w->placed_until) {
			text_set(&w->placed_rv, NULL);
			return false;
		}
		w->reason = REASON_GRANTING;
		wake_by(time, w->flight != 0 ? TIME_NEVER : w->placed_until);
		return true;
	}
	if (time->now < w->retry_at) {
		w->reason = refusal_reason(w->refusal);
		wake_by(time, w->retry_at);
		return true;
	}
	return false;
}

static bool is_unfit(enum reason reason)
{
	return reason == REASON_NODE_UNFIT || reason == REASON_OTHER_SHARING ||
	       reason == REASON_RUNTIME_CLASS || reason == REASON_NO_INJECTION;
}

/* The closest miss is kept with the waiter's reason, for the sentence. */
static void note_refusal(const struct snapshot *s, struct waiter *w,
	const struct place_verdict *fit, const struct place_verdict *open)
{
	if (place_never_fits(s, &w->asked, &w->miss)) {
		/* By which of the others one meets it is chance. */
		w->reason = w->miss.reason;
		return;
	}
	/* Without an open GPU where the pod may go, what keeps one from being opened is the answer.
	 * Where no node suits it in either case, the nearer one is. */
	bool none_near = fit->reason == REASON_NO_GPU_NODE;
	if (is_unfit(fit->reason)) {
		none_near = is_unfit(open->reason) ? open->nearest > fit->nearest
						   : open->reason != REASON_NO_GPU_NODE;
	}
	w->miss = none_near ? *open : *fit;
	w->reason = w->miss.reason;
}

/* It could have something that is kept for somebody who ranks before it. */
static void note_keeper(struct wholes *wholes, struct waiter *w)
{
	const struct place_keep *k = place_kept_from(&wholes->picture->snap, &w->asked);
	if (k != NULL) {
		keeper_note(wholes, w, k);
	} else if (is_unfit(w->reason) || w->reason == REASON_NO_GPU_NODE) {
		place_note_kept(&wholes->picture->snap, &w->asked, &w->miss);
		w->reason = w->miss.reason;
	}
}

/* The first two are looked for one by one; whatever comes after them pays for an index. Its making
 * looks at everything once. */
#define INDEX_FROM 2

/* A GPU that there is, or one more; false: neither, and the waiter has the reason. */
static bool find_in_picture(
	struct scheduling *sched, struct waiter *w, struct emitter *out, struct place_verdict *ret)
{
	struct picture *picture = sched->picture;
	struct place_verdict v = place_best_fit(&picture->snap, &w->asked);
	picture->looked_at += v.looked_at;
	*ret = v;
	/* Who spreads does not join others while a GPU can be opened. */
	if (v.gpu != PLACE_NOWHERE &&
		!(w->asked.spread && picture->snap.gpus.items[v.gpu].tenants > 0)) {
		return true;
	}
	struct place_verdict open = place_open(&picture->snap, &w->asked);
	picture->looked_at += open.looked_at;
	bool opened = open_gpu(sched->scale, w, out, &open);
	*ret = open.gpu != PLACE_NOWHERE ? open : v;
	if (opened || v.gpu != PLACE_NOWHERE) {
		return true;
	}
	w->reason = REASON_WAITING_FOR_CAPACITY;
	if (open.node == PLACE_NOWHERE) {
		note_refusal(&picture->snap, w, &v, &open);
		note_keeper(sched->wholes, w);
	}
	return false;
}

/* One that its workload was taken away from is looked at only where no other takes it. */
static bool find_gpu(
	struct scheduling *sched, struct waiter *w, struct emitter *out, struct place_verdict *ret)
{
	struct place_verdict v;
	struct picture *picture = sched->picture;
	if (picture->searches++ == INDEX_FROM) {
		snapshot_index(&picture->snap);
		picture->looked_at += picture->snap.gpus.count + picture->snap.nodes.count;
	}
	bool hides = avoided_gpus_hide(sched->avoidances, w);
	bool found = find_in_picture(sched, w, out, &v);
	if (hides) {
		avoided_gpus_show(sched->avoidances);
		w->passed.kept_for = found ? w->passed.kept_for : 0;
		found = found || find_in_picture(sched, w, out, &v);
	}
	if (!found) {
		return false;
	}
	company_comes(sched->companies, w, v.gpu);
	place_reserve(&picture->snap, &w->asked, &v);
	*ret = v;
	return true;
}

/* True: there might be a GPU for it, and none fits it now. */
static bool place_waiter(struct scheduling *sched, struct waiter *w, struct emitter *out)
{
	struct picture *picture = sched->picture;
	struct place_verdict v;
	struct claims_of claims;
	if (!waiter_asks(sched, w, &claims)) {
		return false;
	}
	landings_lift(picture, w);
	hold_lift(picture, w);
	bool found = find_gpu(sched, w, out, &v);
	hold_settle(picture, w, found ? &v : NULL);
	landings_settle(picture, w, found ? &v : NULL);
	waiter_asked(w);
	if (!found) {
		return w->reason != REASON_QUOTA && w->reason != REASON_WAITING_FOR_CAPACITY;
	}
	wholes_picture_changed(sched->wholes);
	neighbours_arrive(sched->needs, v.node, &w->pod, false);
	quotas_take(sched->quotas, w, v.milli);
	struct snap_gpu *s = &picture->snap_gpus.items[v.gpu];
	s->demand++;
	s->holder->wanted = picture->time->step;
	bool open = picture->snap.gpus.items[v.gpu].state == GPU_OPEN;
	if (picture->snap.gpus.items[v.gpu].state == GPU_OPENING) {
		await_creation(sched->inject, w, s->holder, out);
	} else if (!open || !inject_awaits(sched->inject, w, s->holder)) {
		w->reason = REASON_GRANTING;
		if (open && !view_lags(picture->book) &&
			(s->added > 0 || flights_room(picture->book))) {
			note_chosen(sched, &(struct chosen){w, v.gpu, v.milli, v.mem_mib});
		}
	}
	return false;
}

static bool decide_one(struct scheduling *sched, struct waiter *w, struct emitter *out)
{
	const struct picture *picture = sched->picture;
	if (held_back(picture->time, w)) {
		return false;
	}
	if (!pod_has_gate(&w->pod, NAME_GATE) || w->pod.gate_count != 1) {
		w->reason = REASON_OTHER_GATES;
		return false;
	}
	if (waiter_count(w) > 1) {
		return group_decide(sched, w, out);
	}
	if (w->granted_step != picture->time->step) {
		return place_waiter(sched, w, out);
	}
	struct holder *h = w->granted_by;
	w->reason = REASON_GRANTING;
	/* Only an entry that the watch of pods has brought back may be told to the tenant: it was
	 * acknowledged, and what is known of the node includes all that came before it (C21). */
	if (!h->asked_holds && flights_room(picture->book) && !view_lags(picture->book) &&
		h->in_world && h->pod.identity != NULL && !text_empty(h->pod.node) &&
		!inject_awaits(sched->inject, w, h)) {
		emit_place(sched, w, &(struct granted){h, w->granted_index}, 1, out);
	}
	return false;
}

/* Most of what a search looks at is passed over by its first number. */
#define LOOKS_A_UNIT 16

void decide(struct scheduling *sched, struct emitter *out)
{
	struct picture *picture = sched->picture;
	VEC_CLEAR(&sched->chosen);
	uint32_t work = 0;
	uint32_t first = sched->resume < sched->ranked->count ? sched->resume : 0, i = first;
	picture->time->round = i == 0 ? picture->time->step : picture->time->round;
	picture->looked_at = 0;
	for (uint32_t k = 0; k < first; k++) {
		wholes_until(sched->wholes, &sched->ranked->items[k]->pod, out);
		reserve_again(sched->wholes, sched->ranked->items[k], 0);
	}
	for (; i < sched->ranked->count && work < sched->budget; i++) {
		struct waiter *w = sched->ranked->items[i];
		picture->looked_at = sched->needs->apart_guests.count;
		wholes_until(sched->wholes, &w->pod, out);
		bool lacks = decide_one(sched, w, out);
		inject_reason(sched->inject, w);
		int64_t from = w->granting_from > 0 ? w->granting_from : picture->time->now;
		w->granting_from = w->reason == REASON_GRANTING ? from : 0;
		w->judged = picture->time->step;
		reserve_judge(sched, w, lacks);
		out->report->decisions++;
		work += 1 + (uint32_t)(picture->looked_at / LOOKS_A_UNIT);
	}
	out->plan->unfinished = i < sched->ranked->count;
	sched->resume = out->plan->unfinished ? i : 0;
	if (!out->plan->unfinished) {
		wholes_until(sched->wholes, NULL, out);
	}
	reserve_count(sched, i);
}
