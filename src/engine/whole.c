/* Whole pods that wait: who they are, in which order, and what is kept for each of them. */
#include "whole.h"

#include <stdlib.h>

#include "state.h"

/* The scheduler tries a pod again within seconds of a GPU getting free, so one that it has left
 * alone for so long has another reason to wait, which nobody judges here. */
#define OFFER_MS 60000
/* Nothing is kept for such a pod for so long, twice as long each time. */
#define REST_FIRST_MS 300000

static bool whole_same(const void *owner, uint32_t slot, const void *key)
{
	const struct engine *e = owner;
	return strcmp(e->wholes.all.items[slot]->uid, key) == 0;
}

void wholes_init(struct engine *e)
{
	map_init(&e->wholes.by_uid, whole_same, e);
}

static void whole_free(struct whole *w)
{
	arena_finish(&w->arena);
	free(w->hold);
	free(w->uid);
	free(w);
}

void wholes_finish(struct engine *e)
{
	for (size_t i = 0; i < e->wholes.all.count; i++) {
		whole_free(e->wholes.all.items[i]);
	}
	VEC_FINISH(&e->wholes.all);
	VEC_FINISH(&e->wholes.ranked);
	VEC_FINISH(&e->wholes.keepers);
	VEC_FINISH(&e->wholes.rooms);
	map_finish(&e->wholes.by_uid);
	memset(&e->wholes, 0, sizeof e->wholes);
}

struct whole *whole_find(const struct engine *e, const char *uid)
{
	uint32_t i = map_find(&e->wholes.by_uid, hash_text(uid), uid);
	return i == MAP_NONE ? NULL : e->wholes.all.items[i];
}

struct whole *whole_touch(struct engine *e, const char *uid, int64_t now)
{
	struct whole *w = whole_find(e, uid);
	if (w == NULL) {
		w = xcalloc(1, sizeof *w);
		w->uid = xstrdup(uid);
		w->arena.block_bytes = 1024;
		w->stamp = UINT64_MAX;
		w->since = now;
		w->offered_at = -1;
		w->lacks_since = -1;
		VEC_PUSH(&e->wholes.all, w);
		map_put(&e->wholes.by_uid, hash_text(uid), (uint32_t)e->wholes.all.count - 1);
	}
	w->seen = e->time.step;
	return w;
}

void wholes_sweep(struct engine *e)
{
	struct wholes *all = &e->wholes;
	bool any = false;
	for (size_t i = all->all.count; i-- > 0;) {
		if (all->all.items[i]->seen != e->time.step) {
			whole_free(all->all.items[i]);
			VEC_REMOVE_SWAP(&all->all, i);
			any = true;
		}
	}
	if (!any) {
		return;
	}
	/* Places have moved: index anew. */
	map_clear(&all->by_uid);
	for (size_t i = 0; i < all->all.count; i++) {
		map_put(&all->by_uid, hash_text(all->all.items[i]->uid), (uint32_t)i);
	}
}

bool whole_is_held(const struct engine *e, const struct whole *w)
{
	return w->hold != NULL && e->time.now < w->hold_until;
}

static int by_rank(const void *a, const void *b)
{
	const struct pod *x = &(*(struct whole *const *)a)->pod;
	const struct pod *y = &(*(struct whole *const *)b)->pod;
	return pod_rank(x, y);
}

/* For whom evictions were made it is looked first, in the order of rank among themselves. */
static void held_first(struct engine *e)
{
	struct wholes *all = &e->wholes;
	size_t front = 0;
	for (size_t i = 0; i < all->ranked.count; i++) {
		struct whole *w = all->ranked.items[i];
		if (whole_is_held(e, w)) {
			memmove(&all->ranked.items[front + 1], &all->ranked.items[front],
				(i - front) * sizeof *all->ranked.items);
			all->ranked.items[front++] = w;
		}
	}
}

void wholes_rank(struct engine *e, int64_t now)
{
	struct wholes *all = &e->wholes;
	VEC_CLEAR(&all->ranked);
	VEC_CLEAR(&all->keepers);
	all->next = 0;
	all->rooms_begun = all->rooms_known = all->guests_known = false;
	all->drained = all->looks = all->reserved = all->behind = 0;
	for (size_t i = 0; i < world_class_count(e->world, WORLD_PENDING); i++) {
		const struct world_pod *p = world_class_at(e->world, WORLD_PENDING, i);
		if (standin_is_one(p)) {
			continue;
		}
		struct whole *w = whole_touch(e, world_pod_uid(p), now);
		if (w->stamp != p->gpu->stamp) {
			arena_finish(&w->arena);
			w->arena.block_bytes = 1024;
			w->pod = pod_of(p, &w->arena);
			w->stamp = p->gpu->stamp;
		}
		VEC_PUSH(&all->ranked, w);
	}
	if (all->ranked.count > 1) {
		qsort(all->ranked.items, all->ranked.count, sizeof *all->ranked.items, by_rank);
	}
	held_first(e);
}

/* Of those that are idle, first what is not open yet. */
static uint32_t next_idle(const struct engine *e, uint32_t node)
{
	uint32_t best = WORLD_NONE;
	for (uint32_t i = 0; i < e->picture.snap.gpus.count; i++) {
		const struct place_gpu *g = &e->picture.snap.gpus.items[i];
		if (g->node != node || !snap_gpu_is_idle(e, i)) {
			continue;
		}
		const struct place_gpu *b =
			best != WORLD_NONE ? &e->picture.snap.gpus.items[best] : NULL;
		if (b == NULL || g->state > b->state ||
			(g->state == b->state && strcmp(g->capacity_pod, b->capacity_pod) < 0)) {
			best = i;
		}
	}
	return best;
}

/* Takes out of the picture what the pod will have on the node. */
static void take(struct engine *e, const struct pod *pod, uint32_t node, uint32_t keeper)
{
	struct place_node *n = &e->picture.snap.nodes.items[node];
	struct whole_room *room = &e->wholes.rooms.items[node];
	if (n->free_gpus <= pod->gpus) {
		place_keep_node(&e->picture.snap, node, keeper);
	}
	while (n->free_gpus < pod->gpus) {
		place_return_capacity(n, false);
		if (room->leaving > 0) {
			room->leaving--;
			continue;
		}
		uint32_t gpu = next_idle(e, node);
		ENSURE(gpu != WORLD_NONE);
		room->idle--;
		e->picture.snap_gpus.items[gpu].yields = true;
		place_keep_gpu(&e->picture.snap, gpu, keeper);
	}
	n->free_gpus -= pod->gpus;
	place_reserve_pod(&e->picture.snap, n, pod);
	snapshot_node_moved(&e->picture.snap, node);
}

static void rest(struct whole *w, int64_t now)
{
	w->rest_until = now + ((int64_t)REST_FIRST_MS << w->rests);
	w->rests += w->rests < WHOLE_RESTS_MAX ? 1 : 0;
	w->offered_at = -1;
}

/* It can be bound now, or as soon as what is idle has gone. */
static void offer(struct engine *e, struct whole *w, uint32_t node, uint32_t keeper)
{
	bool ready = e->picture.snap.nodes.items[node].free_gpus >= w->pod.gpus;
	if (ready && w->offered_at < 0) {
		w->offered_at = e->time.now;
	}
	if (!ready) {
		w->offered_at = -1;
	}
	if (ready) {
		wake_by(&e->time, w->offered_at + OFFER_MS);
	}
	take(e, &w->pod, node, keeper);
}

/* It has not got all of it yet. A node is kept only as far as it needs what is free there. */
static void keep_held(struct engine *e, struct whole *w, uint32_t keeper)
{
	if (!whole_is_held(e, w)) {
		return;
	}
	wake_by(&e->time, w->hold_until);
	e->wholes.keepers.items[keeper - 1].held = true;
	struct told t = told_of(w->hold, NULL);
	while (told_next(&t)) {
		uint32_t at = snap_gpu_first(&e->picture, t.uuid);
		for (; at != WORLD_NONE; at = snap_gpu_next(&e->picture, at)) {
			uint32_t node = e->picture.snap.gpus.items[at].node;
			place_keep_gpu(&e->picture.snap, at, keeper);
			if (e->picture.snap.nodes.items[node].free_gpus <= w->pod.gpus) {
				place_keep_node(&e->picture.snap, node, keeper);
			}
		}
	}
	wholes_picture_changed(e);
}

static void keep_for(struct engine *e, struct whole *w, struct plan *plan)
{
	struct claims_of claims;
	w->fits = false;
	if (w->offered_at >= 0 && e->time.now - w->offered_at >= OFFER_MS) {
		rest(w, e->time.now);
	}
	if (e->time.now < w->rest_until) {
		w->lacks_since = -1;
		wake_by(&e->time, w->rest_until);
		return;
	}
	if (needs_claims(e->world, &w->pod, &claims) != REASON_NONE) {
		w->lacks_since = -1;
		return;
	}
	struct place_request r = {.pod = &w->pod,
		.claims = claims.items,
		.claim_count = claims.count,
		.apart = neighbours_mark(e, &w->pod)};
	wholes_know_rooms(e);
	uint32_t keeper = keeper_add(e, &w->pod, true);
	bool judged = whole_is_judged(&w->pod);
	uint32_t node = whole_best_node(e, &r, judged ? keeper : 0);
	if (node != PLACE_NOWHERE) {
		w->lacks_since = -1;
		w->fits = true;
		offer(e, w, node, keeper);
		return;
	}
	w->offered_at = -1;
	w->lacks_since = w->lacks_since < 0 ? e->time.now : w->lacks_since;
	keep_held(e, w, keeper);
	if (judged) {
		whole_drain(e, w, &r, plan);
	}
}

void wholes_until(struct engine *e, const struct pod *tenant, struct plan *plan)
{
	struct wholes *all = &e->wholes;
	while (all->next < all->ranked.count) {
		struct whole *w = all->ranked.items[all->next];
		/* Of equal rank the whole pod comes first (C16). */
		if (tenant != NULL && !whole_is_held(e, w) && pod_rank_class(&w->pod, tenant) > 0) {
			return;
		}
		all->next++;
		keep_for(e, w, plan);
		e->looked_at += e->picture.snap.nodes.count;
	}
}

void wholes_tend(struct engine *e, struct plan *plan)
{
	vec_for_each (const struct snap_gpu, s, &e->picture.snap_gpus) {
		if (s->yields && holder_may_go(s->holder)) {
			emit_delete(e, s->holder, plan);
		}
	}
}
