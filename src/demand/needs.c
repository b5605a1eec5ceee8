/* Step 4 begins here: what the snapshot must say besides, now that it is known who waits. What
 * nobody asks for is not counted. */
#include "demand/needs.h"

#include "demand/neighbours.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "demand/zoning.h"
#include "ledger/ledger.h"

static bool anyone_asks_for_others(const struct wholes *wholes, const struct ranked *ranked)
{
	bool any = false;
	for (size_t i = 0; i < ranked->count && !any; i++) {
		any = ranked->items[i]->pod.extra.amounts.count > 0;
	}
	for (size_t i = 0; i < wholes->ranked.count && !any; i++) {
		any = wholes->ranked.items[i]->pod.extra.amounts.count > 0;
	}
	return any;
}

/* What is left of its extended resources. */
static void count_others(struct picture *picture, struct place_node *n, const struct world_node *w)
{
	const struct amounts used = {w->uses.amounts.items, (uint32_t)w->uses.amounts.count};
	n->others_at = (uint32_t)picture->snap.others.count;
	n->others_count = n->noun->others.count;
	for (uint32_t i = 0; i < n->noun->others.count; i++) {
		struct amount left = n->noun->others.items[i];
		left.value -= amounts_get(&used, left.name);
		VEC_PUSH(&picture->snap.others, left);
	}
}

/* Tenants whose gate is gone and that are not bound yet: their CPU, memory and slots were counted
 * with the snapshot. */
static void count_unbound(struct needs *needs)
{
	struct picture *picture = needs->picture;
	vec_for_each (const uint32_t, i, &picture->unsettled) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, *i);
		if (p->takes->extra == NULL || p->gpu->gated || p->node != WORLD_NONE ||
			world_pod_terminal(p)) {
			continue;
		}
		const struct holder *h = holder_of_tenant(picture->book, p->gpu);
		uint32_t node = h != NULL ? snap_node_of_holder(picture, h) : WORLD_NONE;
		if (node != WORLD_NONE) {
			struct extra x = extra_read(p->takes->extra, &needs->arena);
			place_reserve_extra(&picture->snap, &picture->snap.nodes.items[node], &x);
		}
	}
}

/* Tenants that stand in a ledger and still carry the gate will be on that node: the next one must
 * not take their CPU between the two writes (C21). */
static void count_granted(struct needs *needs, const struct ranked *ranked)
{
	struct picture *picture = needs->picture;
	for (size_t i = 0; i < ranked->count; i++) {
		const struct waiter *w = ranked->items[i];
		uint32_t node = w->granted_step == picture->time->step
					? snap_node_of_holder(picture, w->granted_by)
					: WORLD_NONE;
		if (node != WORLD_NONE) {
			place_reserve_pod(
				&picture->snap, &picture->snap.nodes.items[node], &w->pod);
			neighbours_arrive(needs, node, &w->pod, false);
		}
	}
}

void needs_count(struct wholes *wholes, const struct ranked *ranked)
{
	struct needs *needs = wholes->needs;
	struct picture *picture = needs->picture;
	bool others = anyone_asks_for_others(wholes, ranked);
	arena_reset(&needs->arena);
	for (size_t i = 0; i < picture->snap.nodes.count; i++) {
		struct place_node *n = &picture->snap.nodes.items[i];
		const struct world_node *w =
			world_node_at(picture->world, picture->snap_nodes.items[i]);
		n->serves_kai = w->kai_pods > 0;
		n->serves_dra = w->dra_slices > 0;
		n->ports = w->uses.ports.items;
		n->port_count = w->uses.ports.count;
		if (others) {
			count_others(picture, n, w);
		}
	}
	neighbours_gather(wholes, ranked);
	count_unbound(needs);
	count_granted(needs, ranked);
}

void needs_finish(struct needs *n)
{
	arena_finish(&n->arena);
	VEC_FINISH(&n->guests);
	VEC_FINISH(&n->spaces);
	VEC_FINISH(&n->apart_guests);
	VEC_FINISH(&n->counts);
	VEC_FINISH(&n->here);
	VEC_FINISH(&n->values);
	VEC_FINISH(&n->places);
	zonings_finish(n);
}

enum reason needs_claims(struct world *world, const struct pod *pod, struct claims_of *ret_claims)
{
	struct claims_of found = {.count = 0};
	enum reason reason = REASON_NONE;
	for (uint32_t i = 0; i < pod->claim_count && i < POD_CLAIMS_MAX; i++) {
		const struct volume_claim *c = world_claim_find(world, pod->ns, pod->claims[i]);
		if (c == NULL || c->state == CLAIM_UNREAD) {
			reason = REASON_READING_VOLUMES;
			continue;
		}
		found.items[found.count++] = c;
		if (!claim_is_ready(c->state) && found.blocker == NULL) {
			found.blocker = c;
		}
	}
	*ret_claims = found;
	return reason == REASON_NONE && found.blocker != NULL ? REASON_VOLUME_NOT_READY : reason;
}

void needs_ask(struct needs *needs, const struct pod *pod, const struct claims_of *claims,
	struct place_request *r)
{
	r->pod = pod;
	r->claims = claims->items;
	r->claim_count = claims->count;
	r->apart = neighbours_mark(needs, pod);
}
