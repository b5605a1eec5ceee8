/* Which capacity pods go because they are of the wrong mode. */
#include "modes.h"

#include "state.h"

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
	r.pod = &w->pod;
	r.claims = claims.items;
	r.claim_count = claims.count;
	r.apart = neighbours_mark(wholes->needs, &w->pod);
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

/* It is of the other mode, and there might be a GPU for it. */
static bool waits_for_other(const struct waiter *w, bool mps)
{
	return w->asked.mps != mps && w->passed.lacks_since >= 0 && w->hold.uuid == NULL;
}

static bool anyone_waits(const struct ranked *ranked, bool mps)
{
	bool any = false;
	for (size_t i = 0; i < ranked->count && !any; i++) {
		any = waits_for_other(ranked->items[i].waiter, mps);
	}
	return any;
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

void modes_tend(struct scheduling *sched, struct emitter *out)
{
	uint32_t looks = 0;
	for (int mps = 0; mps < 2; mps++) {
		/* Of this mode they are idle, of the other one wait. */
		if (!anyone_waits(sched->ranked, mps == 1) || !any_idle(sched->picture, mps == 1)) {
			continue;
		}
		uint32_t going = count_going(sched->picture->book, mps == 1);
		for (size_t i = 0; i < sched->ranked->count && looks < LOOKS_MAX; i++) {
			struct waiter *w = sched->ranked->items[i].waiter;
			if (!waits_for_other(w, mps == 1)) {
				continue;
			}
			if (going > 0) {
				going--;
			} else {
				(void)take_one(sched->wholes, w, &looks, out);
			}
		}
	}
}
