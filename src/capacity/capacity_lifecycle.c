/* The life of capacity pods after they were asked for: those that fail go and their node rests,
 * those that nobody needs go after a grace. A deletion always carries uid and version, so a grant
 * that came in between stops it. */
#include "capacity/capacity_lifecycle.h"

#include "capacity/capacity_failure.h"
#include "capacity/inject.h"
#include "demand/needs.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "guardian/departed_share.h"
#include "guardian/health.h"
#include "ledger/ledger.h"
#include "model/names.h"

static bool has_live_entries(const struct picture *picture, const struct holder *h)
{
	const struct ledger *l = holder_ledger(h);
	for (uint32_t i = 0; i < l->count; i++) {
		if (grant_lives(picture, h, &l->items[i])) {
			return true;
		}
	}
	return false;
}

/* Whoever runs on its GPU, named by its ledger or not: the device must not become free. It is free
 * once the pod is over, and as long as it has told no GPU nobody is known to run on it. */
static bool has_tenants(const struct picture *picture, const struct holder *h)
{
	bool counted = h->snap_step == picture->time->step && h->pod.identity != NULL &&
		       picture->snap.gpus.items[h->snap_at].tenants > 0;
	return !pod_is_terminal(&h->pod) && (counted || has_live_entries(picture, h));
}

/* Somebody else was faster: the node has fewer GPUs than are asked of it. That is nobody's fault,
 * and what waits there would have the next free GPU before any pod that ranks higher (C16). */
static void tend_squeezed(struct picture *picture, struct emitter *out)
{
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		struct holder *h = picture->book->holders.items[i];
		uint32_t node =
			capacity_is_refused(h) ? snap_node_of_holder(picture, h) : WORLD_NONE;
		if (node == WORLD_NONE || picture->snap.nodes.items[node].free_gpus >= 0 ||
			!holder_may_go(h)) {
			continue;
		}
		place_return_capacity(&picture->snap.nodes.items[node], h->mps);
		snapshot_node_moved(&picture->snap, node);
		emit_delete(out, h);
	}
}

static void tend_broken(struct injecting *inject, struct emitter *out)
{
	struct picture *picture = inject->picture;
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		struct holder *h = picture->book->holders.items[i];
		/* Nothing here touches tenants; those whose capacity pod is over are orphans. A GPU
		 * that is ill is of no use to the next one either; one that was may be soon. */
		bool broken = capacity_failed(picture, h) || health_is_ill(inject->ailments, h) ||
			      inject_is_vain(inject, h);
		if (!holder_may_go(h) || !broken || has_tenants(picture, h)) {
			continue;
		}
		/* Who searches asks for what may not be free yet: that is no failure of the node.
		 */
		if (h->node != NULL && !h->search) {
			trouble_note(picture->book, h->node, picture->time->now);
		}
		/* Of the others guardian/health.c and inject_probe.c tell. */
		if (h->node != NULL && !h->search && capacity_failed(picture, h)) {
			report_capacity_failed(picture, h, out);
		}
		emit_delete(out, h);
	}
}

/* A built-in policy is nobody's word: the configuration's counts. */
static int64_t grace_of_tenant(const struct picture *picture, const struct world_pod *p)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 1024};
	const struct pod pod = pod_of(p, &arena);
	const struct policy *policy = policy_of(picture->world, &pod).policy;
	return policy == NULL || policy->built_in ? picture->cfg->idle_grace_ms
						  : (int64_t)policy->idle_grace_s * 1000;
}

/* Of all whom its ledger names the longest. It is looked at whenever the capacity pod changes, as
 * with every grant; when the last tenant has left, its pod may be gone and tells nothing any more.
 */
static void learn_grace(const struct picture *picture, struct holder *h)
{
	if (h->grace_stamp == h->stamp + 1) {
		return;
	}
	h->grace_stamp = h->stamp + 1;
	const struct ledger *l = holder_ledger(h);
	int64_t longest = -1;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct world_pod *p = world_pod_by_uid(picture->world, l->items[i].uid);
		if (p != NULL && grant_lives(picture, h, &l->items[i])) {
			int64_t grace = grace_of_tenant(picture, p);
			longest = grace > longest ? grace : longest;
		}
	}
	if (longest >= 0) {
		h->has_grace = true;
		h->grace_ms = longest;
	}
}

/* Of those that tell one GPU one goes at a time: when it is gone the other serves. All of them
 * together would only be opened together again, for ever. */
static bool twin_goes(const struct picture *picture, const struct holder *h)
{
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct holder *o = picture->snap_gpus.items[i].holder;
		bool goes = o != h && o->flight != 0 && o->flight_type == ACTION_DELETE_CAPACITY;
		if (goes && o->pod.identity != NULL && h->pod.identity != NULL &&
			text_equals(o->node, h->node) &&
			text_equals(o->pod.identity->uuid, h->pod.identity->uuid)) {
			return true;
		}
	}
	return false;
}

/* A tenant of several GPUs waits for the others of that node. Given back, it would have to be
 * opened again, and until then nothing would be kept for it. For whole pods it goes all the same.
 */
static bool is_reserved(const struct wholes *wholes, uint32_t gpu)
{
	const struct place_gpu *g = &wholes->picture->snap.gpus.items[gpu];
	const struct keeper *k = g->kept_by != 0 ? &wholes->keepers.items[g->kept_by - 1] : NULL;
	/* Of no use to a tenant of the other mode: its GPU is. */
	return k != NULL && !k->whole && pod_is_mps(k->pod) == g->mps;
}

/* Of those whose grace is over so many stay; they must be of use to whoever comes next. */
static bool stays_warm(const struct picture *picture, uint32_t gpu, uint32_t *warm)
{
	const struct place_gpu *g = &picture->snap.gpus.items[gpu];
	const struct place_node *n = &picture->snap.nodes.items[g->node];
	bool of_use = g->state != GPU_OPENING && !g->fenced && !g->held_off && !n->no_grants &&
		      place_given_out_by(n) == UNFIT_NONE;
	if (!of_use || *warm >= picture->cfg->warm_gpus) {
		return false;
	}
	(*warm)++;
	return true;
}

static void tend_idle(struct wholes *wholes, struct emitter *out)
{
	const struct picture *picture = wholes->picture;
	uint32_t warm = 0;
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct snap_gpu *s = &picture->snap_gpus.items[i];
		struct holder *h = s->holder;
		if (h->search) {
			continue;
		}
		/* Those who wait were looked at in this step, or in those before since the first
		 * of them. */
		if (s->entries > 0 || s->demand > 0 || h->wanted >= picture->time->round ||
			is_reserved(wholes, i)) {
			h->idle_since = -1;
			continue;
		}
		if (h->idle_since < 0) {
			h->idle_since = picture->time->now;
		}
		int64_t grace = h->has_grace ? h->grace_ms : picture->cfg->idle_grace_ms;
		wake_by(picture->time, h->idle_since + grace);
		bool fenced = picture->snap.gpus.items[i].fenced;
		if (picture->time->now - h->idle_since >= grace && holder_may_go(h) &&
			!(fenced && twin_goes(picture, h)) && !stays_warm(picture, i, &warm)) {
			/* A node that tells one UUID twice would be tried again at once. */
			if (fenced && h->node != NULL) {
				trouble_note(picture->book, h->node, picture->time->now);
			}
			emit_delete(out, h);
		}
	}
}

/* --- of the wrong mode: a capacity pod is of one mode of isolation for as long as it lives, so one
 * that nobody needs goes when somebody who waits could have its GPU in the other mode --- */

/* GPUs that are looked at for those who wait, in one step. */
#define LOOKS_MAX 4096

/* Reserved for this very tenant, it is no more needed than one that is not. */
static bool is_free_for(const struct wholes *wholes, uint32_t gpu, const struct waiter *w)
{
	const struct picture *picture = wholes->picture;
	const struct place_gpu *g = &picture->snap.gpus.items[gpu];
	const struct snap_gpu *s = &picture->snap_gpus.items[gpu];
	bool needed = s->entries > 0 || s->demand > 0 || g->tenants > 0 ||
		      s->holder->wanted >= picture->time->round || s->holder->search || s->yields;
	bool kept = g->kept_by != 0 && wholes->keepers.items[g->kept_by - 1].pod != &w->pod;
	return !needed && !kept && holder_may_go(s->holder);
}

/* It is of the other mode, and there might be a GPU for it. */
static bool waits_for_other(const struct waiter *w, bool mps)
{
	return w->asked.mps != mps && w->passed.lacks_since >= 0 && w->hold.uuid == NULL;
}

static bool anyone_waits(const struct ranked *ranked, bool mps)
{
	bool any = false;
	for (size_t i = 0; i < ranked->count && !any; i++) {
		any = waits_for_other(ranked->items[i], mps);
	}
	return any;
}

/* Is there any, so that those who wait need be looked at? */
static bool any_idle(const struct picture *picture, bool mps)
{
	for (uint32_t i = 0; i < picture->snap_gpus.count; i++) {
		const struct snap_gpu *s = &picture->snap_gpus.items[i];
		if (picture->snap.gpus.items[i].mps == mps && s->entries == 0 && s->demand == 0) {
			return true;
		}
	}
	return false;
}

/* Would its GPU do, held in the other mode? */
static bool would_do(struct picture *picture, uint32_t gpu, const struct place_request *r)
{
	struct place_gpu g = picture->snap.gpus.items[gpu];
	struct place_node n = picture->snap.nodes.items[g.node];
	struct place_verdict v;
	if (n.no_opening || n.kept_by != 0 || g.unhealthy) {
		return false;
	}
	place_return_capacity(&n, g.mps);
	place_reserve_capacity(&n, r->mps);
	g.mps = r->mps;
	g.company = place_nobody(r->mps);
	g.max_tenants = MODEL_GRANTS_MAX;
	g.fenced = false;
	g.kept_by = 0;
	return place_would_fit(&picture->snap, r, &g, &n, &v);
}

/* True: one goes for it. */
static bool take_one(struct wholes *wholes, struct waiter *w, uint32_t *looks, struct emitter *out)
{
	struct picture *picture = wholes->picture;
	struct claims_of claims;
	if (needs_claims(picture->world, &w->pod, &claims) != REASON_NONE) {
		return false;
	}
	struct place_request r = w->asked;
	needs_ask(wholes->needs, &w->pod, &claims, &r);
	for (uint32_t i = 0; i < picture->snap_gpus.count && *looks < LOOKS_MAX; i++) {
		if (picture->snap.gpus.items[i].mps == r.mps || !is_free_for(wholes, i, w)) {
			continue;
		}
		(*looks)++;
		if (would_do(picture, i, &r)) {
			emit_delete(out, picture->snap_gpus.items[i].holder);
			return true;
		}
	}
	return false;
}

/* Those that are on their way out serve as many who wait; more need not go for them. */
static uint32_t count_going(const struct book *book, bool mps)
{
	uint32_t n = 0;
	for (size_t i = 0; i < book->holders.count; i++) {
		const struct holder *h = book->holders.items[i];
		bool goes = holder_is_leaving(h);
		n += goes && h->in_world && h->mps == mps ? 1 : 0;
	}
	return n;
}

static void tend_modes(struct wholes *wholes, const struct ranked *ranked, struct emitter *out)
{
	const struct picture *picture = wholes->picture;
	uint32_t looks = 0;
	for (int mps = 0; mps < 2; mps++) {
		/* Of this mode they are idle, of the other one wait. */
		if (!anyone_waits(ranked, mps == 1) || !any_idle(picture, mps == 1)) {
			continue;
		}
		uint32_t going = count_going(picture->book, mps == 1);
		for (size_t i = 0; i < ranked->count && looks < LOOKS_MAX; i++) {
			struct waiter *w = ranked->items[i];
			if (!waits_for_other(w, mps == 1)) {
				continue;
			}
			if (going > 0) {
				going--;
			} else {
				(void)take_one(wholes, w, &looks, out);
			}
		}
	}
}

/* Those that are kept for a whole pod go for it at once. */
static void tend_yielding(const struct picture *picture, struct emitter *out)
{
	vec_for_each (const struct snap_gpu, s, &picture->snap_gpus) {
		if (s->yields && holder_may_go(s->holder)) {
			emit_delete(out, s->holder);
		}
	}
}

void capacity_tend(struct injecting *inject, struct wholes *wholes, const struct ranked *ranked,
	struct emitter *out)
{
	struct picture *picture = wholes->picture;
	tend_squeezed(picture, out);
	tend_broken(inject, out);
	vec_for_each (const struct snap_gpu, s, &picture->snap_gpus) {
		learn_grace(picture, s->holder);
	}
	tend_yielding(picture, out);
	/* An unfinished step has not seen all demand: nobody is idle for sure. */
	if (!out->plan->unfinished) {
		tend_modes(wholes, ranked, out);
		tend_idle(wholes, out);
	}
}
