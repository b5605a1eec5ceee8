/* Free shares, and nodes that would do. */
#include "rooms.h"

#include "base/map.h"

/* More are not looked at: what fits is found early or hardly ever. */
#define NODES_ASKED 256

void rooms_finish(struct rooms *r)
{
	VEC_FINISH(&r->list);
}

void rooms_clear(struct rooms *r)
{
	VEC_CLEAR(&r->list);
}

void rooms_add(struct rooms *r, const struct world_pod *wp, const struct pod *pod)
{
	if (pod->identity == NULL || pod->ledger_bad || !pod->holds || wp->deleting ||
		wp->node == WORLD_NONE || world_pod_terminal(wp)) {
		return;
	}
	struct room room = {
		.name = hash_text(world_pod_name(wp)),
		.node = wp->node,
		.tenants = pod->ledger.count,
		.milli = MODEL_GPU_MILLI,
		.mib = pod->identity->mem_mib,
		.mps = pod_is_mps(pod),
	};
	for (uint32_t i = 0; i < pod->ledger.count; i++) {
		room.milli -= pod->ledger.items[i].milli;
		room.mib -= pod->ledger.items[i].mem_mib;
	}
	VEC_PUSH(&r->list, room);
}

static bool tolerates(const struct pod *pod, const struct node *n)
{
	for (uint32_t i = 0; i < n->taint_count; i++) {
		const struct taint *t = &n->taints[i];
		if (!text_equals(t->effect, "PreferNoSchedule") &&
			!pod_tolerates(pod, t->key, t->value, t->effect)) {
			return false;
		}
	}
	return true;
}

/* May it run there, as far as is asked here? */
static bool takes(const struct room_ask *ask, const struct world_node *w)
{
	const struct pod *pod = ask->pod;
	const struct node *n = &w->noun;
	return w->known && n->ready && !n->unschedulable &&
	       n->cpu_milli - w->cpu_milli >= pod->cpu_milli &&
	       n->mem_bytes - w->mem_bytes >= pod->mem_bytes && n->pod_slots > w->pods &&
	       pairs_contain(&n->labels, &pod->node_selector) &&
	       (pod->node_term_count == 0 || node_terms_match(pod->node_terms, pod->node_term_count,
						     n->name, &n->labels)) &&
	       tolerates(pod, n);
}

static bool has_room(const struct room *room, const struct room_ask *ask, const struct share *more)
{
	return room->mps == ask->mps && room->milli + more->milli >= ask->want->milli &&
	       room->mib + more->mib >= ask->want->mib;
}

enum roll_room rooms_find(const struct rooms *r, const struct room_ask *ask)
{
	static const struct share nothing = {0, 0};
	uint32_t asked = 0;
	uint64_t apart = ask->apart != NULL ? hash_text(ask->apart) : 0;
	for (size_t i = 0; i < r->list.count && asked < NODES_ASKED; i++) {
		const struct room *room = &r->list.items[i];
		bool left_out = ask->apart != NULL && room->name == apart;
		if (left_out || !has_room(room, ask, &nothing) ||
			(ask->alone && room->tenants > 0)) {
			continue;
		}
		asked++;
		if (takes(ask, world_node_at(ask->world, room->node))) {
			return ROLL_ROOM_OPEN;
		}
	}
	for (uint32_t i = 0, n = 0; i < world_node_slots(ask->world) && n < NODES_ASKED; i++) {
		const struct world_node *w = world_node_at(ask->world, i);
		if (!w->known || w->noun.gpus <= w->gpus) {
			continue;
		}
		n++;
		if (takes(ask, w)) {
			return ROLL_ROOM_FREE;
		}
	}
	return ROLL_ROOM_NONE;
}

bool rooms_fit_after(const struct rooms *r, const struct room_ask *ask, const char *capacity_pod,
	const struct share *has)
{
	uint64_t name = hash_text(text_or(capacity_pod, ""));
	for (size_t i = 0; i < r->list.count; i++) {
		const struct room *room = &r->list.items[i];
		if (room->name == name) {
			return has_room(room, ask, has);
		}
	}
	return false;
}
