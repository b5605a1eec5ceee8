/* In which order whole pods are served, and what is kept for each of them. */
#include "scheduling/whole.h"

#include <stdlib.h>

#include "capacity/standin.h"
#include "demand/needs.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "guardian/departed_share.h"
#include "ledger/ledger.h"
#include "size/explain.h"

/* The scheduler tries a pod again within seconds of a GPU getting free, so one that it has left
 * alone for so long has another reason to wait, which nobody judges here. */
#define OFFER_MS 60000
/* Nothing is kept for such a pod for so long, twice as long each time. */
#define REST_FIRST_MS 300000
#define DRAINED_MAX   16
#define LOOKS_MAX     64
/* One such event a second is more than people read. */
#define TELL_EVERY_MS 1000
#define NAMES_TOLD    4

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
	wholes->all.mark++;
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
static void take_out(struct wholes *wholes, const struct pod *pod, uint32_t node, uint32_t keeper)
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

/* It can be bound now, or as soon as what is idle has gone. */
static void offer_node(struct wholes *wholes, struct whole *w, uint32_t node, uint32_t keeper)
{
	if (wholes->picture->snap.nodes.items[node].free_gpus < w->pod.gpus) {
		w->offered_at = -1;
	} else {
		w->offered_at = w->offered_at < 0 ? wholes->picture->time->now : w->offered_at;
		wake_by(wholes->picture->time, w->offered_at + OFFER_MS);
	}
	take_out(wholes, &w->pod, node, keeper);
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

/* --- C18: a node that gets no new shares. A pod that fits nowhere and has waited long enough: the
 * node that is nearest to it gets no new shares from whoever ranks lower, so that newcomers never
 * overtake it. Only a node whose GPUs are enough for it and for those before it to whom it was
 * promised; no more than half of the nodes. --- */

static void count_guests(struct wholes *wholes, enum world_class class)
{
	const struct picture *picture = wholes->picture;
	for (size_t i = 0; i < world_class_count(picture->world, class); i++) {
		const struct world_pod *p = world_class_at(picture->world, class, i);
		uint32_t at = snap_node_at(picture, p->node);
		if (at != WORLD_NONE && !world_pod_terminal(p)) {
			struct whole_room *room = &wholes->rooms.items[at];
			room->cpu_milli += p->takes->cpu_milli;
			room->mem_bytes += p->takes->mem_bytes;
			room->slots++;
		}
	}
}

/* The node as if no GPU pod were there. Whatever else is there is there for good, as far as we
 * know. */
static bool could_hold(struct wholes *wholes, const struct place_request *r, uint32_t node)
{
	const struct place_node *n = &wholes->picture->snap.nodes.items[node];
	if (n->noun->gpus - wholes->rooms.items[node].promised < r->pod->gpus) {
		return false;
	}
	const struct whole_room *room = &wholes->rooms.items[node];
	struct place_node empty = *n;
	empty.free_cpu_milli += room->cpu_milli;
	empty.free_mem_bytes += room->mem_bytes;
	empty.free_slots += room->slots;
	return place_unfit(&wholes->picture->snap, r, &empty, NULL) == UNFIT_NONE;
}

static bool drained_is_nearer(const struct wholes *wholes, uint32_t a, uint32_t b)
{
	int64_t has[2] = {whole_obtainable(wholes, a), whole_obtainable(wholes, b)};
	int64_t used[2] = {wholes->rooms.items[a].used, wholes->rooms.items[b].used};
	if (has[0] != has[1]) {
		return has[0] > has[1];
	}
	if (used[0] != used[1]) {
		return used[0] < used[1];
	}
	return strcmp(wholes->picture->snap.nodes.items[a].noun->name,
		       wholes->picture->snap.nodes.items[b].noun->name) < 0;
}

static uint32_t node_to_drain(struct wholes *wholes, const struct place_request *r)
{
	uint32_t best = PLACE_NOWHERE;
	size_t half = (wholes->picture->snap.nodes.count + 1) / 2;
	uint32_t most = half < DRAINED_MAX ? (uint32_t)half : DRAINED_MAX;
	if (wholes->looks++ >= LOOKS_MAX) {
		return PLACE_NOWHERE;
	}
	if (!wholes->guests_known) {
		wholes->guests_known = true;
		count_guests(wholes, WORLD_WHOLE);
		count_guests(wholes, WORLD_TENANT);
		count_guests(wholes, WORLD_CAPACITY);
	}
	for (uint32_t i = 0; i < wholes->picture->snap.nodes.count; i++) {
		bool more = wholes->rooms.items[i].promised == 0;
		if ((more && wholes->drained >= most) || !could_hold(wholes, r, i)) {
			continue;
		}
		if (best == PLACE_NOWHERE || drained_is_nearer(wholes, i, best)) {
			best = i;
		}
	}
	return best;
}

/* Who has a share on a GPU of the node, some of them by name. */
static uint32_t count_shares(const struct picture *picture, uint32_t node, struct grant *names)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < picture->snap.gpus.count; i++) {
		const struct holder *h = picture->snap_gpus.items[i].holder;
		const struct ledger *l = holder_ledger(h);
		if (picture->snap.gpus.items[i].node != node) {
			continue;
		}
		for (uint32_t k = 0; k < l->count; k++) {
			if (!grant_lives(picture, h, &l->items[k])) {
				continue;
			}
			if (count < NAMES_TOLD) {
				names[count] = l->items[k];
			}
			count++;
		}
	}
	return count;
}

static void report_in_the_way(
	struct wholes *all, struct whole *w, uint32_t node, struct emitter *out)
{
	const struct picture *picture = all->picture;
	struct grant names[NAMES_TOLD];
	if (w->told) {
		return;
	}
	if (all->told_at != 0 && picture->time->now - all->told_at < TELL_EVERY_MS) {
		wake_by(picture->time, all->told_at + TELL_EVERY_MS);
		return;
	}
	struct explain_way way = {.gpus = w->pod.gpus,
		.node = picture->snap.nodes.items[node].noun->name,
		.shares = count_shares(picture, node, names),
		.names = names};
	if (way.shares == 0) {
		return;
	}
	CLEANUP(str_finish) struct str text = STR_INIT(1024);
	explain_in_the_way(&text, &way, NAMES_TOLD);
	const struct about pod = {w->pod.ns, w->pod.name, w->uid};
	emit_event(out, pod, str_text(&text))->event_reason = "SharesInTheWay";
	w->told = true;
	all->told_at = picture->time->now;
}

/* It fits nowhere and has waited; a node is kept for it. */
static void drain_for(
	struct wholes *all, struct whole *w, const struct place_request *r, struct emitter *out)
{
	struct picture *picture = all->picture;
	if (picture->time->now - w->since < picture->cfg->patience_ms) {
		wake_by(picture->time, w->since + picture->cfg->patience_ms);
		return;
	}
	uint32_t node = node_to_drain(all, r);
	picture->looked_at += picture->snap.nodes.count;
	if (node == PLACE_NOWHERE) {
		return;
	}
	struct whole_room *room = &all->rooms.items[node];
	all->drained += room->promised == 0 ? 1 : 0;
	room->promised += w->pod.gpus;
	uint32_t keeper = (uint32_t)all->keepers.count;
	place_keep_node(&picture->snap, node, keeper);
	for (uint32_t i = 0; i < picture->snap.gpus.count; i++) {
		if (picture->snap.gpus.items[i].node == node) {
			place_keep_gpu(&picture->snap, i, keeper);
		}
	}
	/* What is idle there is kept now, too. */
	wholes_picture_changed(all);
	report_in_the_way(all, w, node, out);
}

/* --- the walk --- */

static void keep_for(struct wholes *wholes, struct whole *w, struct emitter *out)
{
	const struct picture *picture = wholes->picture;
	struct claims_of claims;
	w->fits = false;
	if (w->offered_at >= 0 && picture->time->now - w->offered_at >= OFFER_MS) {
		w->rest_until = picture->time->now + ((int64_t)REST_FIRST_MS << w->rests);
		w->rests += w->rests < WHOLE_RESTS_MAX ? 1 : 0;
		w->offered_at = -1;
	}
	wake_by(picture->time, w->rest_until);
	if (picture->time->now < w->rest_until ||
		needs_claims(picture->world, &w->pod, &claims) != REASON_NONE) {
		w->lacks_since = -1;
		return;
	}
	struct place_request r = {0};
	needs_ask(wholes->needs, &w->pod, &claims, &r);
	wholes_know_rooms(wholes);
	uint32_t keeper = keeper_add(wholes, &w->pod, true);
	bool judged = whole_is_judged(&w->pod);
	uint32_t node = whole_best_node(wholes, &r, judged ? keeper : 0);
	if (node != PLACE_NOWHERE) {
		w->lacks_since = -1;
		w->fits = true;
		offer_node(wholes, w, node, keeper);
		return;
	}
	w->offered_at = -1;
	w->lacks_since = w->lacks_since < 0 ? picture->time->now : w->lacks_since;
	keep_held(wholes, w, keeper);
	if (judged) {
		drain_for(wholes, w, &r, out);
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
