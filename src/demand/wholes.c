/* The pods that wait for whole GPUs, from the step that first meets one to the one that misses it;
 * and on which nodes one could run, if capacity pods that nobody needs were gone. */
#include "demand/wholes.h"

#include <stdlib.h>

#include "demand/needs.h"
#include "ledger/ledger.h"

static void whole_drop(void *data, struct table_row *row)
{
	struct whole *w = (struct whole *)row;
	(void)data;
	arena_finish(&w->arena);
	free(w->hold);
	free(w->uid);
	free(w);
}

void wholes_init(struct wholes *wholes, struct needs *needs)
{
	*wholes = (struct wholes){.picture = needs->picture, .needs = needs};
	table_init(&wholes->all, whole_drop, NULL);
}

void wholes_finish(struct wholes *wholes)
{
	table_finish(&wholes->all);
	VEC_FINISH(&wholes->ranked);
	VEC_FINISH(&wholes->keepers);
	VEC_FINISH(&wholes->rooms);
}

struct whole *whole_find(const struct wholes *wholes, const char *uid)
{
	return (struct whole *)table_find(&wholes->all, "", uid);
}

struct whole *whole_touch(struct wholes *wholes, const char *uid, int64_t now)
{
	struct whole *w = whole_find(wholes, uid);
	if (w == NULL) {
		w = xcalloc(1, sizeof *w);
		w->uid = xstrdup(uid);
		w->row = (struct table_row){.ns = "", .name = w->uid};
		w->arena.block_bytes = 1024;
		w->stamp = UINT64_MAX;
		w->since = now;
		w->offered_at = -1;
		w->lacks_since = -1;
		table_add(&wholes->all, &w->row);
	}
	w->row.mark = wholes->all.mark;
	return w;
}

bool whole_is_held(const struct wholes *wholes, const struct whole *w)
{
	return w->hold != NULL && wholes->picture->time->now < w->hold_until;
}

/* --- what is kept --- */

uint32_t keeper_add(struct wholes *wholes, const struct pod *pod, bool whole)
{
	struct keeper made = {.pod = pod, .whole = whole};
	VEC_PUSH(&wholes->keepers, made);
	return (uint32_t)wholes->keepers.count;
}

void keeper_note(struct wholes *wholes, struct waiter *w, const struct place_keep *k)
{
	w->passed.kept_for = k->keeper;
	w->reason = wholes->keepers.items[k->keeper - 1].whole ? REASON_WHOLE_POD_FIRST
							       : REASON_RESERVED;
	w->miss.reason = w->reason;
	w->miss.best_node = wholes->picture->snap.nodes.items[k->node].noun->name;
}

/* --- where one fits --- */

/* No entry, no tenant, nobody in this round who ranks higher and has chosen it, and no write under
 * way. One that was asked for and refused is not there at all. */
bool snap_gpu_is_idle(const struct picture *picture, uint32_t gpu)
{
	const struct snap_gpu *s = &picture->snap_gpus.items[gpu];
	const struct place_gpu *g = &picture->snap.gpus.items[gpu];
	const struct holder *h = s->holder;
	bool needed = s->entries > 0 || s->demand > 0 || g->tenants > 0 ||
		      h->wanted >= picture->time->round;
	bool refused = !h->in_world && h->flight == 0 && h->refusal != NULL;
	/* Who searches for a lost GPU has it before everybody else (C11). */
	return !needed && !h->search && g->kept_by == 0 && (refused || holder_may_go(h));
}

static void count_leaving(struct wholes *wholes)
{
	const struct picture *picture = wholes->picture;
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		const struct holder *h = picture->book->holders.items[i];
		bool asked = h->flight != 0 && h->flight_type == ACTION_DELETE_CAPACITY;
		/* One that does not go although it was told to is no hope for anybody. */
		bool leaves = asked || (h->deleted && picture->time->now < h->expires_at);
		/* One that was never bound is gone with its deletion, one that is over holds no GPU
		 * in the scheduler's eyes. */
		if (!h->in_world || !leaves || text_empty(h->pod.node) ||
			pod_is_terminal(&h->pod)) {
			continue;
		}
		uint32_t at = snap_node_of(picture, h->pod.node);
		if (at != WORLD_NONE) {
			wholes->rooms.items[at].leaving++;
		}
	}
}

void wholes_know_rooms(struct wholes *wholes)
{
	struct picture *picture = wholes->picture;
	if (wholes->rooms_known) {
		return;
	}
	if (!wholes->rooms_begun) {
		VEC_RESERVE(&wholes->rooms, picture->snap.nodes.count + 1);
		wholes->rooms.count = picture->snap.nodes.count;
		memset(wholes->rooms.items, 0, wholes->rooms.count * sizeof *wholes->rooms.items);
		count_leaving(wholes);
	}
	vec_for_each (struct whole_room, room, &wholes->rooms) {
		room->idle = room->used = 0;
	}
	for (uint32_t i = 0; i < picture->snap.gpus.count; i++) {
		const struct place_gpu *g = &picture->snap.gpus.items[i];
		struct whole_room *room = &wholes->rooms.items[g->node];
		room->idle += snap_gpu_is_idle(picture, i) ? 1 : 0;
		room->used += g->state != GPU_OPENING ? MODEL_GPU_MILLI - g->free_milli : 0;
	}
	wholes->rooms_begun = wholes->rooms_known = true;
	picture->looked_at += picture->snap.gpus.count;
}

int64_t whole_obtainable(const struct wholes *wholes, uint32_t node)
{
	const struct whole_room *room = &wholes->rooms.items[node];
	return wholes->picture->snap.nodes.items[node].free_gpus + room->leaving + room->idle;
}

/* Could it run there once those that are idle are gone? */
static bool whole_fits(struct wholes *wholes, const struct place_request *r, uint32_t node)
{
	const struct place_node *n = &wholes->picture->snap.nodes.items[node];
	if (whole_obtainable(wholes, node) < r->pod->gpus) {
		return false;
	}
	struct place_node rest = *n;
	while (rest.free_gpus < r->pod->gpus) {
		place_return_capacity(&rest, false);
	}
	return place_unfit(&wholes->picture->snap, r, &rest, NULL) == UNFIT_NONE;
}

/* Where nothing has to go first, then where the least is left over. */
static bool fitting_is_nearer(const struct wholes *wholes, int64_t gpus, uint32_t a, uint32_t b)
{
	int64_t more[2], left[2];
	const uint32_t nodes[2] = {a, b};
	for (int i = 0; i < 2; i++) {
		more[i] = gpus - wholes->picture->snap.nodes.items[nodes[i]].free_gpus;
		more[i] = more[i] > 0 ? more[i] : 0;
		left[i] = whole_obtainable(wholes, nodes[i]);
	}
	if (more[0] != more[1]) {
		return more[0] < more[1];
	}
	if (left[0] != left[1]) {
		return left[0] < left[1];
	}
	return strcmp(wholes->picture->snap.nodes.items[a].noun->name,
		       wholes->picture->snap.nodes.items[b].noun->name) < 0;
}

uint32_t whole_best_node(struct wholes *wholes, const struct place_request *r, uint32_t keeper)
{
	uint32_t best = PLACE_NOWHERE;
	for (uint32_t i = 0; i < wholes->picture->snap.nodes.count; i++) {
		if (!whole_fits(wholes, r, i)) {
			continue;
		}
		if (keeper != 0) {
			place_keep_node(&wholes->picture->snap, i, keeper);
		}
		if (best == PLACE_NOWHERE || fitting_is_nearer(wholes, r->pod->gpus, i, best)) {
			best = i;
		}
	}
	return best;
}

void wholes_picture_changed(struct wholes *wholes)
{
	wholes->rooms_known = false;
}

/* What the scheduler may refuse it for and nobody judges here. GPUs are offered to such a pod too,
 * but nobody else waits for it longer than that. */
bool whole_is_judged(const struct pod *p)
{
	return !p->too_complex && !p->has_pod_affinity && !p->has_spread && !pod_looks_far(p) &&
	       !p->has_claims && !p->has_group;
}
