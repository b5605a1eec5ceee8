/* Required anti-affinity on the host name, between pods that have to do with GPUs: of all others no
 * labels are kept, and what they forbid is the scheduler's. It is symmetric, so pods that are there
 * already may forbid a node too.
 *
 * Who is there is gathered once a step, and only if anybody asks: of the namespaces from which
 * somebody with such a rule waits, and everywhere those that have such a rule themselves. */
#include "state.h"

static bool is_asked(const struct engine *e, const char *ns)
{
	for (size_t i = 0; i < e->needs.spaces.count; i++) {
		if (e->needs.spaces.items[i] == NULL || text_equals(e->needs.spaces.items[i], ns)) {
			return true;
		}
	}
	return false;
}

static void ask(struct engine *e, const char *ns)
{
	if (!is_asked(e, ns)) {
		VEC_PUSH(&e->needs.spaces, ns);
	}
}

/* NULL stands for every namespace. */
static void ask_for(struct engine *e, const struct pod *pod)
{
	for (uint32_t i = 0; i < pod->neighbour_count; i++) {
		const struct neighbour_term *t = &pod->neighbours[i];
		if (t->all_namespaces) {
			ask(e, NULL);
		}
		for (uint32_t j = 0; j < t->namespace_count; j++) {
			ask(e, t->namespaces[j]);
		}
		if (t->namespace_count == 0) {
			ask(e, pod->ns);
		}
	}
}

static uint32_t node_of(const struct engine *e, const struct world_pod *p)
{
	uint32_t at = p->node;
	if (at == WORLD_NONE && p->gpu->capacity_pod != NULL && !p->gpu->gated) {
		const struct holder *h = holder_of_tenant(e, p->gpu);
		at = h != NULL && h->node != NULL ? world_node_find(e->world, h->node) : WORLD_NONE;
	}
	return at < e->node_to_snap.count ? e->node_to_snap.items[at] : WORLD_NONE;
}

static void gather(struct engine *e, enum world_class class)
{
	for (size_t i = 0; i < world_class_count(e->world, class); i++) {
		const struct world_pod *p = world_class_at(e->world, class, i);
		if (world_pod_terminal(p) || p->gpu->gated ||
			(!p->gpu->has_neighbours && !is_asked(e, p->ns))) {
			continue;
		}
		uint32_t node = node_of(e, p);
		if (node == WORLD_NONE) {
			continue;
		}
		struct pod *pod = ARENA_NEW(&e->needs.arena, struct pod);
		bool whole = world_pod_unpack(p, &e->needs.arena, pod);
		ENSURE(whole);
		neighbours_arrive(e, node, pod);
	}
}

void neighbours_arrive(struct engine *e, uint32_t node, const struct pod *pod)
{
	if (pod->neighbour_count > 0 || is_asked(e, pod->ns)) {
		struct guest g = {node, pod};
		VEC_PUSH(&e->needs.guests, g);
	}
}

void neighbours_gather(struct engine *e)
{
	VEC_CLEAR(&e->needs.guests);
	VEC_CLEAR(&e->needs.spaces);
	e->needs.apart = 0;
	for (size_t i = 0; i < e->ranked.count; i++) {
		ask_for(e, &e->ranked.items[i].waiter->pod);
	}
	for (size_t i = 0; i < e->wholes.ranked.count; i++) {
		ask_for(e, &e->wholes.ranked.items[i]->pod);
	}
	if (e->ranked.count > 0 || e->wholes.ranked.count > 0) {
		gather(e, WORLD_TENANT);
		gather(e, WORLD_WHOLE);
	}
}

uint32_t neighbours_mark(struct engine *e, const struct pod *pod)
{
	e->needs.apart++;
	vec_for_each (const struct guest, g, &e->needs.guests) {
		if (g->pod != pod && pods_keep_apart(pod, g->pod)) {
			e->snap.nodes.items[g->node].kept_apart = e->needs.apart;
		}
	}
	return e->needs.guests.count > 0 ? e->needs.apart : 0;
}
