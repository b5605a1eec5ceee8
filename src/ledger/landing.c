/* What may land yet, from the moment a placement leaves until it cannot land any more. While its
 * capacity pod is there, the ledger counts the same share. */
#include "ledger/landing.h"

#include "ledger/ledger.h"

/* Takes out of the picture (sign 1), or gives back (-1), what a landing counts there. */
static void landing_move(struct picture *picture, const struct landing *t, int sign)
{
	struct place_gpu *g = &picture->snap.gpus.items[t->at];
	g->free_milli -= sign * t->out_milli;
	g->free_mib -= sign * t->out_mib;
	g->tenants += (uint32_t)(sign * (t->out_whole ? 1 : 0));
	snapshot_gpu_moved(&picture->snap, t->at);
}

/* `has` is what the GPU's books know of the tenant already, all zero if nothing. */
static void landing_take(
	struct picture *picture, struct landing *t, uint32_t at, struct place_verdict has)
{
	bool known = has.milli > 0 || has.mem_mib > 0;
	t->at = at;
	t->out_milli = t->milli > has.milli ? t->milli - has.milli : 0;
	t->out_mib = t->mem_mib > has.mem_mib ? t->mem_mib - has.mem_mib : 0;
	t->out_whole = !known;
	landing_move(picture, t, 1);
}

static void count_landings(struct companies *companies, struct waiter *w)
{
	struct picture *picture = companies->picture;
	vec_for_each (struct landing, t, &w->landings) {
		uint32_t at = snap_gpu_on(picture, t->uuid, snap_node_of(picture, t->node));
		t->at = WORLD_NONE;
		if (at == WORLD_NONE) {
			continue;
		}
		const struct ledger *l = holder_ledger(picture->snap_gpus.items[at].holder);
		const struct grant *g = ledger_find(l, w->uid);
		struct place_verdict has = {
			.milli = g != NULL ? g->milli : 0, .mem_mib = g != NULL ? g->mem_mib : 0};
		landing_take(picture, t, at, has);
		if (t->out_whole) {
			struct manners manners = manners_of_waiter(companies, w);
			company_joins(&picture->snap.gpus.items[at], &picture->snap_gpus.items[at],
				&manners);
		}
		/* Nobody gives that GPU back while somebody may come to run on it. */
		picture->snap_gpus.items[at].demand += t->out_whole ? 1 : 0;
	}
}

void landings_count(struct companies *companies)
{
	const struct picture *picture = companies->picture;
	for (size_t i = 0; i < picture->book->waiters.count; i++) {
		struct waiter *w = picture->book->waiters.items[i];
		const struct world_pod *p =
			w->landings.count > 0 ? world_pod_by_uid(picture->world, w->uid) : NULL;
		/* Gone, it can be told nothing; placed, it says itself where. */
		if (p == NULL || !p->gpu->gated) {
			landings_finish(w);
			continue;
		}
		w->seen = picture->time->step;
		waiter_refresh(w, p);
		count_landings(companies, w);
	}
}

void landings_lift(struct picture *picture, const struct waiter *w)
{
	vec_for_each (const struct landing, t, &w->landings) {
		if (t->at != WORLD_NONE) {
			landing_move(picture, t, -1);
		}
	}
}

void landings_settle(struct picture *picture, struct waiter *w, const struct place_verdict *v)
{
	struct place_group one = {.count = v != NULL ? 1 : 0};
	if (v != NULL) {
		one.gpus[0] = v->gpu;
		one.milli = v->milli;
		one.mem_mib = v->mem_mib;
	}
	landings_settle_group(picture, w, &one);
}

void landings_settle_group(struct picture *picture, struct waiter *w, const struct place_group *g)
{
	struct place_verdict has = {.milli = g->milli, .mem_mib = g->mem_mib};
	vec_for_each (struct landing, t, &w->landings) {
		bool goes_there = false;
		for (uint32_t i = 0; i < g->count; i++) {
			goes_there = goes_there || g->gpus[i] == t->at;
		}
		if (t->at != WORLD_NONE && goes_there) {
			landing_take(picture, t, t->at, has);
		} else if (t->at != WORLD_NONE) {
			landing_move(picture, t, 1);
		}
	}
}
