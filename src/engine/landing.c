/* What may land yet, from the moment a placement leaves until it cannot land any more. While its
 * capacity pod is there, the ledger counts the same share. */
#include "landing.h"

#include <stdlib.h>

#include "state.h"

static void landing_free(struct landing *t)
{
	free(t->uuid);
	free(t->node);
	free(t->version);
}

void landings_finish(struct waiter *w)
{
	vec_for_each (struct landing, t, &w->landings) {
		landing_free(t);
	}
	VEC_FINISH(&w->landings);
}

static void landing_drop(struct waiter *w, size_t i)
{
	landing_free(&w->landings.items[i]);
	VEC_REMOVE_SWAP(&w->landings, i);
}

/* Two of one version that name one GPU are one: only one of them can win. */
static void note_one(struct waiter *w, const struct action *a, const char *uuid)
{
	struct landing *same = NULL;
	vec_for_each (struct landing, t, &w->landings) {
		if (text_equals(t->uuid, uuid) && text_equals(t->node, a->node) &&
			text_equals(t->version, a->resource_version)) {
			same = t;
		}
	}
	if (same == NULL) {
		struct landing made = {.uuid = xstrdup(uuid),
			.node = xstrdup(a->node),
			.version = xstrdup(a->resource_version)};
		VEC_PUSH(&w->landings, made);
		same = &w->landings.items[w->landings.count - 1];
	}
	same->milli = same->milli > a->milli ? same->milli : a->milli;
	same->mem_mib = same->mem_mib > a->mem_mib ? same->mem_mib : a->mem_mib;
	same->flight = a->id;
	same->open++;
}

void landing_note(struct waiter *w, const struct action *a)
{
	struct told t = told_of(a->uuid, NULL);
	while (told_next(&t)) {
		note_one(w, a, t.uuid);
	}
}

/* Earlier ones that say the same may land still. */
void landing_failed(struct waiter *w, uint64_t flight)
{
	for (size_t i = w->landings.count; i-- > 0;) {
		struct landing *t = &w->landings.items[i];
		if (t->flight == flight && --t->open == 0) {
			landing_drop(w, i);
		}
	}
}

void landings_pass(struct waiter *w)
{
	for (size_t i = w->landings.count; i-- > 0;) {
		if (version_passed(w->pod.resource_version, w->landings.items[i].version)) {
			landing_drop(w, i);
		}
	}
}

static const struct grant *entry_of(const struct ledger *l, const char *uid)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (strcmp(l->items[i].uid, uid) == 0) {
			return &l->items[i];
		}
	}
	return NULL;
}

/* Takes out of the picture (sign 1), or gives back (-1), what a landing counts there. */
static void landing_move(struct engine *e, const struct landing *t, int sign)
{
	struct place_gpu *g = &e->snap.gpus.items[t->at];
	g->free_milli -= sign * t->out_milli;
	g->free_mib -= sign * t->out_mib;
	g->tenants += (uint32_t)(sign * (t->out_whole ? 1 : 0));
	snapshot_gpu_moved(&e->snap, t->at);
}

/* `has` is what the GPU's books know of the tenant already, all zero if nothing. */
static void landing_take(struct engine *e, struct landing *t, uint32_t at, struct place_verdict has)
{
	bool known = has.milli > 0 || has.mem_mib > 0;
	t->at = at;
	t->out_milli = t->milli > has.milli ? t->milli - has.milli : 0;
	t->out_mib = t->mem_mib > has.mem_mib ? t->mem_mib - has.mem_mib : 0;
	t->out_whole = !known;
	landing_move(e, t, 1);
}

static void count_landings(struct engine *e, struct waiter *w)
{
	vec_for_each (struct landing, t, &w->landings) {
		uint32_t at = snap_gpu_on(e, t->uuid, snap_node_of(e, t->node));
		t->at = WORLD_NONE;
		if (at == WORLD_NONE) {
			continue;
		}
		const struct ledger *l = holder_ledger(e->snap_gpus.items[at].holder);
		const struct grant *g = entry_of(l, w->uid);
		struct place_verdict has = {
			.milli = g != NULL ? g->milli : 0, .mem_mib = g != NULL ? g->mem_mib : 0};
		landing_take(e, t, at, has);
		if (t->out_whole) {
			struct manners manners = manners_of_waiter(e, w);
			company_joins(&e->snap.gpus.items[at], &e->snap_gpus.items[at], &manners);
		}
		/* Nobody gives that GPU back while somebody may come to run on it. */
		e->snap_gpus.items[at].demand += t->out_whole ? 1 : 0;
	}
}

void landings_count(struct engine *e)
{
	for (size_t i = 0; i < e->waiters.count; i++) {
		struct waiter *w = e->waiters.items[i];
		const struct world_pod *p =
			w->landings.count > 0 ? world_pod_by_uid(e->world, w->uid) : NULL;
		/* Gone, it can be told nothing; placed, it says itself where. */
		if (p == NULL || !p->gpu->gated) {
			landings_finish(w);
			continue;
		}
		w->seen = e->step;
		waiter_refresh(w, p);
		count_landings(e, w);
	}
}

void landings_lift(struct engine *e, const struct waiter *w)
{
	vec_for_each (const struct landing, t, &w->landings) {
		if (t->at != WORLD_NONE) {
			landing_move(e, t, -1);
		}
	}
}

void landings_settle(struct engine *e, struct waiter *w, const struct place_verdict *v)
{
	struct place_group one = {.count = v != NULL ? 1 : 0};
	if (v != NULL) {
		one.gpus[0] = v->gpu;
		one.milli = v->milli;
		one.mem_mib = v->mem_mib;
	}
	landings_settle_group(e, w, &one);
}

void landings_settle_group(struct engine *e, struct waiter *w, const struct place_group *g)
{
	struct place_verdict has = {.milli = g->milli, .mem_mib = g->mem_mib};
	vec_for_each (struct landing, t, &w->landings) {
		bool goes_there = false;
		for (uint32_t i = 0; i < g->count; i++) {
			goes_there = goes_there || g->gpus[i] == t->at;
		}
		if (t->at != WORLD_NONE && goes_there) {
			landing_take(e, t, t->at, has);
		} else if (t->at != WORLD_NONE) {
			landing_move(e, t, 1);
		}
	}
}

bool landings_linger(const struct waiter *w)
{
	vec_for_each (const struct landing, t, &w->landings) {
		if (t->at != WORLD_NONE && t->out_whole) {
			return true;
		}
	}
	return false;
}
