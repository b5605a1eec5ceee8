/* In which order whole pods are served, and what is kept for each of them. */
#include "scheduling/whole.h"

#include <stdlib.h>

#include "capacity/standin.h"
#include "demand/keeper.h"
#include "demand/needs.h"
#include "demand/neighbours.h"
#include "demand/rank.h"
#include "demand/whole_fit.h"
#include "demand/wholes.h"
#include "ledger/ledger.h"
#include "whole_drain.h"

/* The scheduler tries a pod again within seconds of a GPU getting free, so one that it has left
 * alone for so long has another reason to wait, which nobody judges here. */
#define OFFER_MS 60000
/* Nothing is kept for such a pod for so long, twice as long each time. */
#define REST_FIRST_MS 300000

static int by_rank(const void *a, const void *b)
{
	const struct pod *x = &(*(struct whole *const *)a)->pod;
	const struct pod *y = &(*(struct whole *const *)b)->pod;
	return pod_rank(x, y);
}

/* For whom evictions were made it is looked first, in the order of rank among themselves. */
static void held_first(struct wholes *wholes)
{
	size_t front = 0;
	for (size_t i = 0; i < wholes->ranked.count; i++) {
		struct whole *w = wholes->ranked.items[i];
		if (whole_is_held(wholes, w)) {
			memmove(&wholes->ranked.items[front + 1], &wholes->ranked.items[front],
				(i - front) * sizeof *wholes->ranked.items);
			wholes->ranked.items[front++] = w;
		}
	}
}

void wholes_rank(struct wholes *wholes)
{
	const struct picture *picture = wholes->picture;
	VEC_CLEAR(&wholes->ranked);
	VEC_CLEAR(&wholes->keepers);
	wholes->next = 0;
	wholes->rooms_begun = wholes->rooms_known = wholes->guests_known = false;
	wholes->drained = wholes->looks = wholes->reserved = wholes->behind = 0;
	for (size_t i = 0; i < world_class_count(picture->world, WORLD_PENDING); i++) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_PENDING, i);
		if (standin_is_one(p)) {
			continue;
		}
		struct whole *w = whole_touch(wholes, world_pod_uid(p), picture->time->now);
		if (w->stamp != p->gpu->stamp) {
			arena_finish(&w->arena);
			w->arena.block_bytes = 1024;
			w->pod = pod_of(p, &w->arena);
			w->stamp = p->gpu->stamp;
		}
		VEC_PUSH(&wholes->ranked, w);
	}
	if (wholes->ranked.count > 1) {
		qsort(wholes->ranked.items, wholes->ranked.count, sizeof *wholes->ranked.items,
			by_rank);
	}
	held_first(wholes);
}

/* Of those that are idle, first what is not open yet. */
static uint32_t next_idle(const struct picture *picture, uint32_t node)
{
	uint32_t best = WORLD_NONE;
	for (uint32_t i = 0; i < picture->snap.gpus.count; i++) {
		const struct place_gpu *g = &picture->snap.gpus.items[i];
		if (g->node != node || !snap_gpu_is_idle(picture, i)) {
			continue;
		}
		const struct place_gpu *b =
			best != WORLD_NONE ? &picture->snap.gpus.items[best] : NULL;
		if (b == NULL || g->state > b->state ||
			(g->state == b->state && strcmp(g->capacity_pod, b->capacity_pod) < 0)) {
			best = i;
		}
	}
	return best;
}

/* Takes out of the picture what the pod will have on the node. */
static void take(struct wholes *wholes, const struct pod *pod, uint32_t node, uint32_t keeper)
{
	struct picture *picture = wholes->picture;
	struct place_node *n = &picture->snap.nodes.items[node];
	struct whole_room *room = &wholes->rooms.items[node];
	if (n->free_gpus <= pod->gpus) {
		place_keep_node(&picture->snap, node, keeper);
	}
	while (n->free_gpus < pod->gpus) {
		place_return_capacity(n, false);
		if (room->leaving > 0) {
			room->leaving--;
			continue;
		}
		uint32_t gpu = next_idle(picture, node);
		ENSURE(gpu != WORLD_NONE);
		room->idle--;
		picture->snap_gpus.items[gpu].yields = true;
		place_keep_gpu(&picture->snap, gpu, keeper);
	}
	n->free_gpus -= pod->gpus;
	place_reserve_pod(&picture->snap, n, pod);
	snapshot_node_moved(&picture->snap, node);
}

static void rest(struct whole *w, int64_t now)
{
	w->rest_until = now + ((int64_t)REST_FIRST_MS << w->rests);
	w->rests += w->rests < WHOLE_RESTS_MAX ? 1 : 0;
	w->offered_at = -1;
}

/* It can be bound now, or as soon as what is idle has gone. */
static void offer(struct wholes *wholes, struct whole *w, uint32_t node, uint32_t keeper)
{
	bool ready = wholes->picture->snap.nodes.items[node].free_gpus >= w->pod.gpus;
	if (ready && w->offered_at < 0) {
		w->offered_at = wholes->picture->time->now;
	}
	if (!ready) {
		w->offered_at = -1;
	}
	if (ready) {
		wake_by(wholes->picture->time, w->offered_at + OFFER_MS);
	}
	take(wholes, &w->pod, node, keeper);
}

/* It has not got all of it yet. A node is kept only as far as it needs what is free there. */
static void keep_held(struct wholes *wholes, struct whole *w, uint32_t keeper)
{
	struct picture *picture = wholes->picture;
	if (!whole_is_held(wholes, w)) {
		return;
	}
	wake_by(picture->time, w->hold_until);
	wholes->keepers.items[keeper - 1].held = true;
	struct told t = told_of(w->hold, NULL);
	while (told_next(&t)) {
		uint32_t at = snap_gpu_first(picture, t.uuid);
		for (; at != WORLD_NONE; at = snap_gpu_next(picture, at)) {
			uint32_t node = picture->snap.gpus.items[at].node;
			place_keep_gpu(&picture->snap, at, keeper);
			if (picture->snap.nodes.items[node].free_gpus <= w->pod.gpus) {
				place_keep_node(&picture->snap, node, keeper);
			}
		}
	}
	wholes_picture_changed(wholes);
}

static void keep_for(struct wholes *wholes, struct whole *w, struct emitter *out)
{
	const struct picture *picture = wholes->picture;
	struct claims_of claims;
	w->fits = false;
	if (w->offered_at >= 0 && picture->time->now - w->offered_at >= OFFER_MS) {
		rest(w, picture->time->now);
	}
	if (picture->time->now < w->rest_until) {
		w->lacks_since = -1;
		wake_by(picture->time, w->rest_until);
		return;
	}
	if (needs_claims(picture->world, &w->pod, &claims) != REASON_NONE) {
		w->lacks_since = -1;
		return;
	}
	struct place_request r = {.pod = &w->pod,
		.claims = claims.items,
		.claim_count = claims.count,
		.apart = neighbours_mark(wholes->needs, &w->pod)};
	wholes_know_rooms(wholes);
	uint32_t keeper = keeper_add(wholes, &w->pod, true);
	bool judged = whole_is_judged(&w->pod);
	uint32_t node = whole_best_node(wholes, &r, judged ? keeper : 0);
	if (node != PLACE_NOWHERE) {
		w->lacks_since = -1;
		w->fits = true;
		offer(wholes, w, node, keeper);
		return;
	}
	w->offered_at = -1;
	w->lacks_since = w->lacks_since < 0 ? picture->time->now : w->lacks_since;
	keep_held(wholes, w, keeper);
	if (judged) {
		whole_drain(wholes, w, &r, out);
	}
}

void wholes_until(struct wholes *all, const struct pod *tenant, struct emitter *out)
{
	while (all->next < all->ranked.count) {
		struct whole *w = all->ranked.items[all->next];
		/* Of equal rank the whole pod comes first (C16). */
		if (tenant != NULL && !whole_is_held(all, w) &&
			pod_rank_class(&w->pod, tenant) > 0) {
			return;
		}
		all->next++;
		keep_for(all, w, out);
		all->picture->looked_at += all->picture->snap.nodes.count;
	}
}
