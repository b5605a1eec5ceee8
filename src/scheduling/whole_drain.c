/* A whole pod that fits nowhere and has waited long enough: the node that is nearest to it gets no
 * new shares from whoever ranks lower, so that newcomers never overtake it (C18). Only a node whose
 * GPUs are enough for it and for those before it to whom it was promised; no more than half of the
 * nodes. */
#include "whole_drain.h"

#include "demand/whole_fit.h"
#include "demand/wholes.h"
#include "guardian/departed_share.h"
#include "ledger/ledger.h"
#include "size/explain.h"

#define DRAINED_MAX 16
#define LOOKS_MAX   64
/* One such event a second is more than people read. */
#define TELL_EVERY_MS 1000
#define NAMES_TOLD    4

static void count_guests(struct wholes *wholes, enum world_class class)
{
	const struct picture *picture = wholes->picture;
	for (size_t i = 0; i < world_class_count(picture->world, class); i++) {
		const struct world_pod *p = world_class_at(picture->world, class, i);
		uint32_t at = p->node < picture->node_to_snap.count
				      ? picture->node_to_snap.items[p->node]
				      : WORLD_NONE;
		if (at != WORLD_NONE && !world_pod_terminal(p)) {
			struct whole_room *room = &wholes->rooms.items[at];
			room->cpu_milli += p->takes->cpu_milli;
			room->mem_bytes += p->takes->mem_bytes;
			room->slots++;
		}
	}
}

static void know_guests(struct wholes *wholes)
{
	if (wholes->guests_known) {
		return;
	}
	wholes->guests_known = true;
	count_guests(wholes, WORLD_WHOLE);
	count_guests(wholes, WORLD_TENANT);
	count_guests(wholes, WORLD_CAPACITY);
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

static bool is_nearer(const struct wholes *wholes, uint32_t a, uint32_t b)
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

static uint32_t nearest(struct wholes *wholes, const struct place_request *r)
{
	uint32_t best = PLACE_NOWHERE;
	size_t half = (wholes->picture->snap.nodes.count + 1) / 2;
	uint32_t most = half < DRAINED_MAX ? (uint32_t)half : DRAINED_MAX;
	if (wholes->looks++ >= LOOKS_MAX) {
		return PLACE_NOWHERE;
	}
	know_guests(wholes);
	for (uint32_t i = 0; i < wholes->picture->snap.nodes.count; i++) {
		bool more = wholes->rooms.items[i].promised == 0;
		if ((more && wholes->drained >= most) || !could_hold(wholes, r, i)) {
			continue;
		}
		if (best == PLACE_NOWHERE || is_nearer(wholes, i, best)) {
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

static void tell(struct wholes *all, struct whole *w, uint32_t node, struct emitter *out)
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

void whole_drain(
	struct wholes *all, struct whole *w, const struct place_request *r, struct emitter *out)
{
	struct picture *picture = all->picture;
	if (picture->time->now - w->since < picture->cfg->patience_ms) {
		wake_by(picture->time, w->since + picture->cfg->patience_ms);
		return;
	}
	uint32_t node = nearest(all, r);
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
	tell(all, w, node, out);
}
