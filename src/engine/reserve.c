/* C17. Tenants among themselves: who was passed over for too long, or too often, reserves the GPU
 * on which the least is missing, or as many GPUs of one node as it asks for. Nobody who ranks lower
 * joins it, so that less and less is missing there, until the tenant fits or another GPU is nearer
 * to it. */
#include "whole.h"

#include <stdlib.h>

#include "state.h"

#define PATIENCE_MS   60000
#define PASSED_MOST   100
#define RESERVED_MOST 64

int64_t patience_of(const struct engine *e)
{
	return e->cfg.patience_ms > 0 ? e->cfg.patience_ms : PATIENCE_MS;
}

uint32_t keeper_add(struct engine *e, const struct pod *pod, bool whole)
{
	struct keeper made = {pod, whole};
	VEC_PUSH(&e->wholes.keepers, made);
	return (uint32_t)e->wholes.keepers.count;
}

/* What is missing on the GPU. */
struct lack {
	int64_t milli, mib;
};

static bool lack_on(const struct place_gpu *g, const struct place_request *r, struct lack *ret)
{
	int64_t milli, mib;
	place_share(r, g->usable_mib, &milli, &mib);
	if (g->fenced || g->kept_by != 0 || milli > MODEL_GPU_MILLI ||
		(g->usable_mib > 0 && mib > g->usable_mib)) {
		return false;
	}
	ret->milli = milli > g->free_milli ? milli - g->free_milli : 0;
	ret->mib = g->usable_mib > 0 && mib > g->free_mib ? mib - g->free_mib : 0;
	return true;
}

static bool is_nearer(const struct engine *e, uint32_t a, const struct lack *on_a, uint32_t b,
	const struct lack *on_b)
{
	if (on_a->milli != on_b->milli) {
		return on_a->milli < on_b->milli;
	}
	if (on_a->mib != on_b->mib) {
		return on_a->mib < on_b->mib;
	}
	const struct place_gpu *x = &e->snap.gpus.items[a], *y = &e->snap.gpus.items[b];
	int by_node = strcmp(
		e->snap.nodes.items[x->node].noun->name, e->snap.nodes.items[y->node].noun->name);
	return by_node != 0 ? by_node < 0 : strcmp(x->capacity_pod, y->capacity_pod) < 0;
}

/* Only where nothing but the GPU is missing: no reservation makes CPU free. */
static uint32_t nearest(struct engine *e, const struct place_request *r)
{
	uint32_t best = PLACE_NOWHERE;
	struct lack least = {0}, on;
	for (uint32_t i = 0; i < e->snap.gpus.count; i++) {
		const struct place_gpu *g = &e->snap.gpus.items[i];
		if (!lack_on(g, r, &on) ||
			(best != PLACE_NOWHERE && !is_nearer(e, i, &on, best, &least)) ||
			place_unfit(&e->snap, r, &e->snap.nodes.items[g->node], NULL) !=
				UNFIT_NONE) {
			continue;
		}
		best = i;
		least = on;
	}
	e->looked_at += e->snap.gpus.count;
	return best;
}

/* --- several GPUs at once: those of one node on which the least is missing in all --- */

struct near_gpu {
	uint32_t node, gpu; /* PLACE_NOWHERE: one that is not open */
	struct lack lack;
};

static int by_node_and_lack(const void *a, const void *b)
{
	const struct near_gpu *x = a, *y = b;
	if (x->node != y->node) {
		return x->node < y->node ? -1 : 1;
	}
	if (x->lack.milli != y->lack.milli) {
		return x->lack.milli < y->lack.milli ? -1 : 1;
	}
	if (x->lack.mib != y->lack.mib) {
		return x->lack.mib < y->lack.mib ? -1 : 1;
	}
	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

/* What is kept for somebody before it is kept anyway, and may be of use afterwards; but anything
 * else is nearer. */
static bool lack_in_the_end(
	const struct place_gpu *g, const struct place_request *r, struct lack *ret)
{
	struct place_gpu later = *g;
	later.kept_by = 0;
	if (!lack_on(&later, r, ret)) {
		return false;
	}
	ret->milli += g->kept_by != 0 ? MODEL_GPU_MILLI : 0;
	return true;
}

/* Everything that it could have one day, of nodes that suit it otherwise. */
static struct near_gpu *near_gpus(
	struct engine *e, const struct place_request *r, size_t *ret_count)
{
	size_t n = 0;
	struct near_gpu *all = xcalloc(e->snap.gpus.count + 1, sizeof *all);
	for (uint32_t i = 0; i < e->snap.gpus.count; i++) {
		const struct place_gpu *g = &e->snap.gpus.items[i];
		all[n] = (struct near_gpu){.node = g->node, .gpu = i};
		n += lack_in_the_end(g, r, &all[n].lack) ? 1 : 0;
	}
	e->looked_at += e->snap.gpus.count;
	qsort(all, n, sizeof *all, by_node_and_lack);
	*ret_count = n;
	return all;
}

/* One node's, nearest first; the free ones lack nothing. */
struct near_node {
	const struct near_gpu *first;
	uint32_t opens, joins; /* so many to be opened, so many of the first */
	struct lack lack;      /* of all of them */
};

static bool near_node(struct engine *e, const struct place_request *r, uint32_t want,
	const struct near_gpu *first, struct near_node *ret)
{
	const struct place_node *n = &e->snap.nodes.items[first->node];
	uint32_t opens = n->free_gpus > 0 && n->kept_by == 0 ? (uint32_t)n->free_gpus : 0;
	struct near_node made = {.first = first, .opens = opens < want ? opens : want};
	for (uint32_t i = 0; made.opens + made.joins < want; i++) {
		if (first[i].node != first->node) {
			return false;
		}
		made.lack.milli += first[i].lack.milli;
		made.lack.mib += first[i].lack.mib;
		made.joins++;
	}
	*ret = made;
	return place_unfit(&e->snap, r, n, NULL) == UNFIT_NONE;
}

static bool is_nearer_node(
	const struct engine *e, const struct near_node *a, const struct near_node *b)
{
	if (b->first == NULL || a->lack.milli != b->lack.milli) {
		return b->first == NULL || a->lack.milli < b->lack.milli;
	}
	if (a->lack.mib != b->lack.mib) {
		return a->lack.mib < b->lack.mib;
	}
	return strcmp(e->snap.nodes.items[a->first->node].noun->name,
		       e->snap.nodes.items[b->first->node].noun->name) < 0;
}

static void keep_group(struct engine *e, const struct waiter *w, const struct near_node *n)
{
	uint32_t keeper = keeper_add(e, &w->pod, false);
	if (n->opens > 0) {
		place_keep_node(&e->snap, n->first->node, keeper);
	}
	for (uint32_t i = 0; i < n->joins; i++) {
		place_keep_gpu(&e->snap, n->first[i].gpu, keeper);
	}
}

/* False: there is no such node. */
static bool reserve_group(struct engine *e, const struct waiter *w, const struct place_request *r)
{
	size_t count;
	struct near_node best = {.first = NULL}, n;
	struct near_gpu *all = near_gpus(e, r, &count);
	/* Behind the last one there is none of its node. */
	all[count].node = PLACE_NOWHERE;
	for (size_t i = 0; i < count; i++) {
		bool first = i == 0 || all[i].node != all[i - 1].node;
		if (first && near_node(e, r, waiter_count(w), &all[i], &n) &&
			is_nearer_node(e, &n, &best)) {
			best = n;
		}
	}
	if (best.first != NULL) {
		keep_group(e, w, &best);
	}
	free(all);
	return best.first != NULL;
}

static bool reserve_one(struct engine *e, const struct waiter *w, const struct place_request *r)
{
	uint32_t gpu = nearest(e, r);
	if (gpu != PLACE_NOWHERE) {
		place_keep_gpu(&e->snap, gpu, keeper_add(e, &w->pod, false));
	}
	return gpu != PLACE_NOWHERE;
}

static void reserve(struct engine *e, struct waiter *w)
{
	struct claims_of claims;
	bool due = e->now - w->passed.lacks_since >= patience_of(e) || w->passed.by >= PASSED_MOST;
	if (!due) {
		wake_by(e, w->passed.lacks_since + patience_of(e));
		return;
	}
	if (e->wholes.reserved >= RESERVED_MOST ||
		needs_claims(e, &w->pod, &claims) != REASON_NONE) {
		return;
	}
	struct place_request r = w->asked;
	r.pod = &w->pod;
	r.claims = claims.items;
	r.claim_count = claims.count;
	r.apart = neighbours_mark(e, &w->pod);
	bool reserved = waiter_count(w) > 1 ? reserve_group(e, w, &r) : reserve_one(e, w, &r);
	if (reserved) {
		e->wholes.reserved++;
		wholes_picture_changed(e);
	}
}

void reserve_judge(struct engine *e, struct waiter *w, bool lacks)
{
	w->passed.from = e->chosen.count;
	if (!lacks) {
		w->passed.lacks_since = -1;
		w->passed.by = 0;
		return;
	}
	if (w->passed.lacks_since < 0) {
		w->passed.lacks_since = e->now;
	}
	reserve(e, w);
}

void reserve_again(struct engine *e, struct waiter *w)
{
	w->passed.from = 0;
	if (w->passed.lacks_since >= 0) {
		reserve(e, w);
	}
}

/* Whichever GPUs they went to: it begins the reservation early, never late, and is at most one GPU.
 */
void reserve_count(struct engine *e, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		struct waiter *w = e->ranked.items[i].waiter;
		size_t passed = e->chosen.count - w->passed.from;
		if (w->passed.lacks_since >= 0 && passed > 0 && w->passed.by < PASSED_MOST) {
			w->passed.by += passed < PASSED_MOST ? (uint32_t)passed : PASSED_MOST;
			/* It reserves in the next step, which this one asks for. */
			e->dirty = e->dirty || w->passed.by >= PASSED_MOST;
		}
	}
}
