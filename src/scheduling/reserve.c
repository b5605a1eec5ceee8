/* C17. Tenants among themselves: who was passed over for too long, or too often, reserves the GPU
 * on which the least is missing, or as many GPUs of one node as it asks for. Nobody who ranks lower
 * joins it, so that less and less is missing there, until the tenant fits or another GPU is nearer
 * to it. */
#include "reserve.h"

#include "demand/needs.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "ledger/ledger.h"
#include "scheduling/scheduling.h"

#define PASSED_MOST   100
#define RESERVED_MOST 64
/* A search that finds nothing looks at every GPU, and mostly finds nothing the next time either. */
#define VAIN_MS 30000

/* What is missing on a GPU for a share. */
struct lack {
	int64_t milli, mib;
};

/* False: it is no GPU for it. What is kept for somebody before it may be of use afterwards;
 * anything else is nearer. */
static bool lack_in_the_end(
	const struct place_gpu *g, const struct place_request *r, struct lack *ret)
{
	int64_t milli, mib;
	place_share(r, g->usable_mib, &milli, &mib);
	if (g->fenced || g->held_off || milli > MODEL_GPU_MILLI ||
		(g->usable_mib > 0 && mib > g->usable_mib)) {
		return false;
	}
	ret->milli = milli > g->free_milli ? milli - g->free_milli : 0;
	/* Of the other mode: whoever is there must leave first. */
	ret->milli = g->mps != r->mps ? MODEL_GPU_MILLI - g->free_milli : ret->milli;
	ret->mib = g->usable_mib > 0 && mib > g->free_mib ? mib - g->free_mib : 0;
	/* No GPU lacks so much otherwise. */
	ret->milli += g->kept_by != 0 ? 2 * MODEL_GPU_MILLI : 0;
	return true;
}

static bool is_less(const struct lack *a, const struct lack *b)
{
	return a->milli != b->milli ? a->milli < b->milli : a->mib < b->mib;
}

static bool gpu_is_nearer(const struct picture *picture, uint32_t a, const struct lack *on_a,
	uint32_t b, const struct lack *on_b)
{
	if (is_less(on_a, on_b) || is_less(on_b, on_a)) {
		return is_less(on_a, on_b);
	}
	const struct place_gpu *x = &picture->snap.gpus.items[a], *y = &picture->snap.gpus.items[b];
	int by_node = strcmp(picture->snap.nodes.items[x->node].noun->name,
		picture->snap.nodes.items[y->node].noun->name);
	return by_node != 0 ? by_node < 0 : strcmp(x->capacity_pod, y->capacity_pod) < 0;
}

/* Only where nothing but the GPU is missing: no reservation makes CPU free. */
static uint32_t nearest_gpu(struct picture *picture, const struct place_request *r)
{
	uint32_t best = PLACE_NOWHERE;
	struct lack least = {0}, on;
	for (uint32_t i = 0; i < picture->snap.gpus.count; i++) {
		const struct place_gpu *g = &picture->snap.gpus.items[i];
		if (!lack_in_the_end(g, r, &on) ||
			(best != PLACE_NOWHERE && !gpu_is_nearer(picture, i, &on, best, &least)) ||
			place_unfit(&picture->snap, r, &picture->snap.nodes.items[g->node], NULL) !=
				UNFIT_NONE) {
			continue;
		}
		best = i;
		least = on;
	}
	picture->looked_at += picture->snap.gpus.count;
	return best;
}

/* True: it was in vain. Behind somebody who may get what is kept in this very step it is not: it
 * looks again in the next, or it would rest while that GPU goes to those after it. */
static bool reserve_one(struct wholes *wholes, struct waiter *w, const struct place_request *r)
{
	uint32_t gpu = nearest_gpu(wholes->picture, r);
	if (gpu == PLACE_NOWHERE) {
		return true;
	}
	if (wholes->picture->snap.gpus.items[gpu].kept_by != 0) {
		return wholes->behind++ >= RESERVED_MOST;
	}
	place_keep_gpu(&wholes->picture->snap, gpu, keeper_add(wholes, &w->pod, false));
	wholes_picture_changed(wholes);
	wholes->reserved++;
	return false;
}

/* --- of several GPUs: of one node those on which the least is missing, and of all nodes the one
 * where the least is missing on them together. A GPU that nobody has opened lacks nothing. --- */

/* What would be kept on one node. */
struct reservation {
	uint32_t gpus[MODEL_GPU_COUNT_MAX]; /* by what is missing, the least first */
	struct lack lacks[MODEL_GPU_COUNT_MAX];
	uint32_t count, opens;
	struct lack sum;
};

/* Of those that are as good the first stays, so that the choice does not jump. */
static void reservation_add(
	struct reservation *c, uint32_t most, uint32_t gpu, const struct lack *on)
{
	uint32_t at = c->count < most ? c->count : most - 1;
	if (c->count == most && !is_less(on, &c->lacks[at])) {
		return;
	}
	c->count += c->count < most ? 1 : 0;
	for (; at > 0 && is_less(on, &c->lacks[at - 1]); at--) {
		c->gpus[at] = c->gpus[at - 1];
		c->lacks[at] = c->lacks[at - 1];
	}
	c->gpus[at] = gpu;
	c->lacks[at] = *on;
}

/* False: the node has not so many GPUs for it. What can be opened is taken instead of what lacks
 * something. */
static bool reservation_close(struct picture *picture, struct reservation *c, uint32_t node,
	const struct place_request *r, uint32_t most)
{
	const struct place_node *n = &picture->snap.nodes.items[node];
	bool opens =
		n->kept_by == 0 && !n->no_opening && n->free_gpus > 0 && place_share_possible(n, r);
	uint32_t free = opens ? most : 0;
	free = n->free_gpus < free ? (uint32_t)n->free_gpus : free;
	while (c->opens < free &&
		(c->count + c->opens < most ||
			(c->count > 0 && (c->lacks[c->count - 1].milli > 0 ||
						 c->lacks[c->count - 1].mib > 0)))) {
		c->count -= c->count + c->opens >= most ? 1 : 0;
		c->opens++;
	}
	for (uint32_t i = 0; i < c->count; i++) {
		c->sum.milli += c->lacks[i].milli;
		c->sum.mib += c->lacks[i].mib;
	}
	return c->count + c->opens >= most && place_unfit(&picture->snap, r, n, NULL) == UNFIT_NONE;
}

/* Nodes in the order of the picture, which is that of the world. */
static uint32_t nearest_node(struct picture *picture, const struct place_request *r, uint32_t most,
	struct reservation *ret)
{
	CLEANUP(cleanup_free)
	struct reservation *on_nodes = xcalloc(picture->snap.nodes.count + 1, sizeof *on_nodes);
	uint32_t best = PLACE_NOWHERE;
	struct lack on;
	for (uint32_t i = 0; i < picture->snap.gpus.count; i++) {
		const struct place_gpu *g = &picture->snap.gpus.items[i];
		if (lack_in_the_end(g, r, &on)) {
			reservation_add(&on_nodes[g->node], most, i, &on);
		}
	}
	for (uint32_t i = 0; i < picture->snap.nodes.count; i++) {
		if (reservation_close(picture, &on_nodes[i], i, r, most) &&
			(best == PLACE_NOWHERE || is_less(&on_nodes[i].sum, &on_nodes[best].sum))) {
			best = i;
		}
	}
	*ret = on_nodes[best != PLACE_NOWHERE ? best : 0];
	picture->looked_at += picture->snap.gpus.count + picture->snap.nodes.count;
	return best;
}

/* True: it was in vain. */
static bool reserve_group(struct wholes *wholes, struct waiter *w, const struct place_request *r)
{
	struct reservation c;
	uint32_t node = nearest_node(wholes->picture, r, waiter_count(w), &c);
	if (node == PLACE_NOWHERE) {
		return true;
	}
	uint32_t keeper = keeper_add(wholes, &w->pod, false);
	for (uint32_t i = 0; i < c.count; i++) {
		place_keep_gpu(&wholes->picture->snap, c.gpus[i], keeper);
	}
	if (c.opens > 0) {
		place_keep_node(&wholes->picture->snap, node, keeper);
	}
	wholes_picture_changed(wholes);
	wholes->reserved += c.count + c.opens;
	return false;
}

/* --- who reserves, and when --- */

static void reserve_if_due(struct wholes *wholes, struct waiter *w)
{
	const struct picture *picture = wholes->picture;
	struct claims_of claims;
	bool due = picture->time->now - w->passed.waits_since >= picture->cfg->patience_ms ||
		   w->passed.by >= PASSED_MOST;
	if (!due) {
		wake_by(picture->time, w->passed.waits_since + picture->cfg->patience_ms);
		return;
	}
	if (wholes->reserved >= RESERVED_MOST || picture->time->now < w->passed.vain_until ||
		needs_claims(picture->world, &w->pod, &claims) != REASON_NONE) {
		return;
	}
	struct place_request r = w->asked;
	needs_ask(wholes->needs, &w->pod, &claims, &r);
	bool vain = (waiter_count(w) > 1 ? reserve_group : reserve_one)(wholes, w, &r);
	w->passed.vain_until = vain ? picture->time->now + VAIN_MS : 0;
	if (vain) {
		wake_by(picture->time, w->passed.vain_until);
	}
}

/* It is about to be given a share, as soon as a write that is under way has ended, and stands in no
 * ledger yet: until then others could take what it waits for. */
static bool is_between(const struct step_time *time, const struct waiter *w)
{
	return w->reason == REASON_GRANTING && w->granted_step != time->step &&
	       w->passed.waits_since >= 0;
}

/* A share that is being given, a GPU that is being opened and a turn to start may all come to
 * nothing, and then the tenant has waited for as long as before. */
static bool is_being_served(const struct waiter *w)
{
	return w->reason == REASON_GRANTING || w->reason == REASON_WAITING_FOR_CAPACITY ||
	       w->reason == REASON_STARTS_IN_TURN;
}

void reserve_judge(struct scheduling *sched, struct waiter *w, bool lacks)
{
	int64_t now = sched->picture->time->now;
	if (!lacks) {
		w->passed.lacks_since = -1;
	} else if (w->passed.lacks_since < 0) {
		w->passed.lacks_since = now;
	}
	if (lacks && w->passed.waits_since < 0) {
		w->passed.waits_since = now;
	} else if (!lacks && !is_being_served(w)) {
		w->passed.waits_since = -1;
		w->passed.by = 0;
		w->passed.vain_until = 0;
	}
	reserve_again(sched->wholes, w, sched->chosen.count);
}

void reserve_again(struct wholes *wholes, struct waiter *w, size_t from)
{
	w->passed.from = from;
	if (w->passed.lacks_since >= 0 || is_between(wholes->picture->time, w)) {
		reserve_if_due(wholes, w);
	}
}

/* Whichever GPUs they went to: it begins the reservation early, never late, and is at most one GPU.
 */
void reserve_count(struct scheduling *sched, size_t end)
{
	for (size_t i = 0; i < end; i++) {
		struct waiter *w = sched->ranked->items[i];
		size_t passed = sched->chosen.count - w->passed.from;
		if (w->passed.waits_since >= 0 && passed > 0 && w->passed.by < PASSED_MOST) {
			w->passed.by += passed < PASSED_MOST ? (uint32_t)passed : PASSED_MOST;
			/* It reserves in the next step, which this one asks for. */
			sched->picture->time->dirty =
				sched->picture->time->dirty || w->passed.by >= PASSED_MOST;
		}
	}
}
