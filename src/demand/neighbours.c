/* What pods that have to do with GPUs require of each other: required affinity and anti-affinity,
 * and topology spread that must hold. Of all other pods no labels are kept, and what concerns them
 * is the scheduler's; admission leaves a pod whole where it might be about them.
 *
 * Anti-affinity is symmetric, so pods that are there already may forbid a node too.
 *
 * Who is there is gathered once a step, and only if anybody asks: of the namespaces of which
 * somebody who waits requires something, and everywhere those that keep others off. */
#include "demand/neighbours.h"

#include "base/bits.h"
#include "demand/gpu_avoidance.h"
#include "demand/needs.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "demand/zoning.h"
#include "ledger/ledger.h"
#include "model/names.h"

static bool is_asked(const struct needs *needs, const char *ns)
{
	for (size_t i = 0; i < needs->spaces.count; i++) {
		if (needs->spaces.items[i] == NULL || text_equals(needs->spaces.items[i], ns)) {
			return true;
		}
	}
	return false;
}

static void ask_namespace(struct needs *needs, const char *ns)
{
	if (!is_asked(needs, ns)) {
		VEC_PUSH(&needs->spaces, ns);
	}
}

/* NULL stands for every namespace. */
static void ask_for(struct needs *needs, const struct pod *pod)
{
	for (uint32_t i = 0; i < pod->neighbour_count; i++) {
		const struct neighbour_term *t = &pod->neighbours[i];
		if (t->all_namespaces) {
			ask_namespace(needs, NULL);
		}
		for (uint32_t j = 0; j < t->namespace_count; j++) {
			ask_namespace(needs, t->namespaces[j]);
		}
		if (t->namespace_count == 0) {
			ask_namespace(needs, pod->ns);
		}
	}
}

void neighbours_arrive(struct needs *needs, uint32_t node, const struct pod *pod, bool leaves)
{
	bool keeps = pod_has_neighbours(pod, NEIGHBOUR_APART);
	if (keeps) {
		VEC_PUSH(&needs->apart_guests, (uint32_t)needs->guests.count);
	}
	if (keeps || is_asked(needs, pod->ns)) {
		struct guest g = {node, pod, leaves};
		VEC_PUSH(&needs->guests, g);
	}
}

static void meet_guest(struct needs *needs, const struct world_pod *p)
{
	const struct picture *picture = needs->picture;
	if (world_pod_terminal(p) || p->gpu->gated ||
		!(p->gpu->has_neighbours || is_asked(needs, p->ns))) {
		return;
	}
	const struct holder *h =
		p->node == WORLD_NONE ? holder_of_tenant(picture->book, p->gpu) : NULL;
	uint32_t node =
		h != NULL ? snap_node_of_holder(picture, h) : snap_node_at(picture, p->node);
	if (node != WORLD_NONE) {
		struct pod *pod = ARENA_NEW(&needs->arena, struct pod);
		*pod = pod_of(p, &needs->arena);
		neighbours_arrive(needs, node, pod, p->deleting);
	}
}

static void gather(struct needs *needs, enum world_class class)
{
	for (size_t i = 0; i < world_class_count(needs->picture->world, class); i++) {
		meet_guest(needs, world_class_at(needs->picture->world, class, i));
	}
}

void neighbours_gather(struct wholes *wholes, const struct ranked *ranked)
{
	struct needs *needs = wholes->needs;
	VEC_CLEAR(&needs->guests);
	VEC_CLEAR(&needs->apart_guests);
	VEC_CLEAR(&needs->spaces);
	needs->apart = 0;
	for (size_t i = 0; i < ranked->count; i++) {
		ask_for(needs, &ranked->items[i]->pod);
	}
	for (size_t i = 0; i < wholes->ranked.count; i++) {
		ask_for(needs, &wholes->ranked.items[i]->pod);
	}
	if (needs->spaces.count > 0) {
		gather(needs, WORLD_TENANT);
		gather(needs, WORLD_WHOLE);
		return;
	}
	/* Where nobody who waits requires anything, only those count that keep others off. */
	const struct bits *apart = &needs->picture->kept.apart;
	bool anyone = ranked->count > 0 || wholes->ranked.count > 0;
	uint32_t i = anyone ? bits_next(apart, 0) : BITS_NONE;
	for (; i != BITS_NONE; i = bits_next(apart, i + 1)) {
		const struct world_pod *p = world_pod_at(needs->picture->world, i);
		if (p->gpu->class == WORLD_TENANT || p->gpu->class == WORLD_WHOLE) {
			meet_guest(needs, p);
		}
	}
}

/* --- the nodes of a request --- */

static void mark_node(struct needs *needs, uint32_t node, enum unfit why)
{
	struct place_node *n = &needs->picture->snap.nodes.items[node];
	if (n->kept_apart != needs->apart) {
		n->kept_apart = needs->apart;
		n->apart_by = why;
	}
}

static bool is_among(const struct needs *needs, const char *value)
{
	for (size_t i = 0; i < needs->values.count; i++) {
		if (strcmp(needs->values.items[i], value) == 0) {
			return true;
		}
	}
	return false;
}

/* Many guests are in one place: each place is gone through once. */
static bool is_first(struct needs *needs, const char *key, const char *value)
{
	vec_for_each (const struct pair, p, &needs->places) {
		if (strcmp(p->value, value) == 0 && strcmp(p->key, key) == 0) {
			return false;
		}
	}
	struct pair made = {key, value};
	VEC_PUSH(&needs->places, made);
	return true;
}

/* Everything that is where that node is. */
static void mark_near(struct needs *needs, uint32_t node, const char *key)
{
	const char *value = zoning_value(needs->picture->snap.nodes.items[node].noun, key);
	if (key == NULL) {
		mark_node(needs, node, UNFIT_NEIGHBOUR);
	}
	if (key == NULL || value == NULL || !is_first(needs, key, value)) {
		return;
	}
	for (uint32_t i = 0; i < needs->picture->snap.nodes.count; i++) {
		if (text_equals(
			    zoning_value(needs->picture->snap.nodes.items[i].noun, key), value)) {
			mark_node(needs, i, UNFIT_NEIGHBOUR);
		}
	}
	needs->picture->looked_at += needs->picture->snap.nodes.count;
}

/* What `owner` keeps off, where `other` is or comes. */
static void keep_off(struct needs *needs, const struct pod *owner, const struct pod *other,
	uint32_t node, bool far)
{
	for (uint32_t i = 0; i < owner->neighbour_count; i++) {
		const struct neighbour_term *t = &owner->neighbours[i];
		if (t->kind == NEIGHBOUR_APART && (far || t->key == NULL) &&
			neighbour_matches(t, owner, other)) {
			mark_near(needs, node, t->key);
		}
	}
}

static void mark_apart(struct needs *needs, const struct pod *pod, bool far)
{
	bool keeps = pod_has_neighbours(pod, NEIGHBOUR_APART);
	VEC_CLEAR(&needs->places);
	for (size_t i = 0; keeps && i < needs->guests.count; i++) {
		const struct guest *g = &needs->guests.items[i];
		if (g->pod != pod) {
			keep_off(needs, pod, g->pod, g->node, far);
		}
	}
	vec_for_each (const uint32_t, at, &needs->apart_guests) {
		const struct guest *g = &needs->guests.items[*at];
		if (g->pod != pod) {
			keep_off(needs, g->pod, pod, g->node, far);
		}
	}
	needs->picture->looked_at += keeps ? needs->guests.count : 0;
}

/* --- beside --- */

/* A pod counts that all terms speak of, as the scheduler has it. */
static bool is_beside(const struct pod *pod, const struct pod *other)
{
	for (uint32_t i = 0; i < pod->neighbour_count; i++) {
		const struct neighbour_term *t = &pod->neighbours[i];
		if (t->kind == NEIGHBOUR_BESIDE && !neighbour_matches(t, pod, other)) {
			return false;
		}
	}
	return true;
}

/* Where no GPU pod is meant, it may be about pods that nobody knows here: the scheduler judges. */
static void mark_beside(struct needs *needs, const struct pod *pod)
{
	const struct snapshot *snap = &needs->picture->snap;
	bool any = false, itself = is_beside(pod, pod);
	for (size_t i = 0; i < needs->guests.count && !any; i++) {
		const struct guest *g = &needs->guests.items[i];
		any = g->pod != pod && is_beside(pod, g->pod);
	}
	for (uint32_t k = 0; k < pod->neighbour_count && (any || itself); k++) {
		const struct neighbour_term *t = &pod->neighbours[k];
		if (t->kind != NEIGHBOUR_BESIDE) {
			continue;
		}
		VEC_CLEAR(&needs->values);
		vec_for_each (const struct guest, g, &needs->guests) {
			const char *value = zoning_value(
				needs->picture->snap.nodes.items[g->node].noun, t->key);
			if (g->pod != pod && value != NULL && is_beside(pod, g->pod) &&
				!is_among(needs, value)) {
				VEC_PUSH(&needs->values, value);
			}
		}
		/* The first of its kind may go anywhere, where it is of its own kind. */
		for (uint32_t i = 0; i < snap->nodes.count; i++) {
			const char *value = zoning_value(snap->nodes.items[i].noun, t->key);
			if (value == NULL || (any && !is_among(needs, value))) {
				mark_node(needs, i, UNFIT_ALONE);
			}
		}
		needs->picture->looked_at += snap->nodes.count;
	}
	needs->picture->looked_at += needs->guests.count;
}

/* --- spread --- */

/* How many of its kind are in each place, and on each node. */
static void count_kind(struct needs *needs, const struct zoning *z, const struct pod *pod,
	const struct neighbour_term *t)
{
	VEC_CLEAR(&needs->counts);
	VEC_CLEAR(&needs->here);
	for (uint32_t i = 0; i < z->count; i++) {
		VEC_PUSH(&needs->counts, 0);
	}
	for (size_t i = 0; i < needs->picture->snap.nodes.count; i++) {
		VEC_PUSH(&needs->here, 0);
	}
	vec_for_each (const struct guest, g, &needs->guests) {
		uint32_t at = z->of.items[needs->picture->snap_nodes.items[g->node]];
		if (at != WORLD_NONE && g->pod != pod && !g->leaves &&
			neighbour_matches(t, pod, g->pod)) {
			needs->counts.items[at]++;
			needs->here.items[g->node]++;
		}
	}
	needs->picture->looked_at += needs->guests.count + needs->picture->snap.nodes.count;
}

static void mark_spread(struct needs *needs, const struct pod *pod, const struct neighbour_term *t)
{
	const struct zoning *z = zoning_of(needs, pod, t);
	uint32_t itself = neighbour_matches(t, pod, pod) ? 1 : 0;
	uint32_t fewest = UINT32_MAX;
	count_kind(needs, z, pod, t);
	vec_for_each (const uint32_t, count, &needs->counts) {
		fewest = *count < fewest ? *count : fewest;
	}
	fewest = (int64_t)z->count < t->min_domains ? 0 : fewest;
	for (uint32_t i = 0; i < needs->picture->snap.nodes.count; i++) {
		uint32_t at = z->of.items[needs->picture->snap_nodes.items[i]];
		/* Once the pod is pinned the scheduler sees its node as the only place. Where it
		 * wants several it then takes the fewest for none, and refuses a node that has
		 * others of the kind itself. */
		bool refused_once_pinned =
			t->min_domains > 1 && !t->any_node &&
			(int64_t)needs->here.items[i] + itself > (int64_t)t->max_skew;
		if (at == WORLD_NONE || refused_once_pinned ||
			(int64_t)needs->counts.items[at] + itself - fewest > t->max_skew) {
			mark_node(needs, i, UNFIT_SPREAD);
		}
	}
}

/* Nodes that the scheduler has refused to such a pod (gpu_avoidance.h). */
static bool mark_refused(struct needs *needs, const struct pod *pod)
{
	bool any = false;
	if (needs->avoidances->items.count == 0) {
		return false;
	}
	uint64_t workload = company_workload(needs->avoidances->companies, pod);
	vec_for_each (const struct gpu_avoidance, s, &needs->avoidances->items) {
		bool holds = s->is_node && s->workload == workload &&
			     needs->picture->time->now < s->until;
		uint32_t at = holds ? snap_node_of(needs->picture, s->what) : WORLD_NONE;
		if (at != WORLD_NONE) {
			any = true;
			mark_node(needs, at, UNFIT_REFUSED);
			wake_by(needs->picture->time, s->until);
		}
	}
	return any;
}

uint32_t neighbours_mark(struct needs *needs, const struct pod *pod)
{
	bool far = pod_has_gate(pod, NAME_GATE);
	bool asks = pod->neighbour_count > 0 || needs->apart_guests.count > 0;
	needs->apart++;
	if (asks) {
		mark_apart(needs, pod, far);
	}
	if (far && pod_has_neighbours(pod, NEIGHBOUR_BESIDE)) {
		mark_beside(needs, pod);
	}
	for (uint32_t i = 0; far && i < pod->neighbour_count; i++) {
		if (pod->neighbours[i].kind == NEIGHBOUR_SPREAD) {
			mark_spread(needs, pod, &pod->neighbours[i]);
		}
	}
	bool refused = far && mark_refused(needs, pod);
	return asks || refused ? needs->apart : 0;
}
