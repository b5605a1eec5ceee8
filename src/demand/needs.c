/* Step 4 begins here: what the snapshot must say besides, now that it is known who waits. What
 * nobody asks for is not counted. */
#include "demand/needs.h"

#include "demand/neighbours.h"
#include "demand/rank.h"
#include "demand/wholes.h"
#include "demand/zoning.h"
#include "ledger/ledger.h"

static bool anyone_needs(const struct wholes *wholes, const struct ranked *ranked)
{
	for (size_t i = 0; i < ranked->count; i++) {
		if (ranked->items[i].waiter->pod.extra.amounts.count > 0) {
			return true;
		}
	}
	for (size_t i = 0; i < wholes->ranked.count; i++) {
		if (wholes->ranked.items[i]->pod.extra.amounts.count > 0) {
			return true;
		}
	}
	return false;
}

static int64_t used(const struct world_uses *u, const char *name)
{
	for (size_t i = 0; i < u->amounts.count; i++) {
		if (text_equals(u->amounts.items[i].name, name)) {
			return u->amounts.items[i].value;
		}
	}
	return 0;
}

static void count_others(struct picture *picture, struct place_node *n, const struct world_node *w)
{
	n->others_at = (uint32_t)picture->snap.others.count;
	n->others_count = n->noun->others.count;
	for (uint32_t i = 0; i < n->noun->others.count; i++) {
		struct amount left = n->noun->others.items[i];
		left.value -= used(&w->uses, left.name);
		VEC_PUSH(&picture->snap.others, left);
	}
}

static struct place_node *node_of(struct picture *picture, const struct holder *h)
{
	uint32_t at = h != NULL && h->node != NULL ? world_node_find(picture->world, h->node)
						   : WORLD_NONE;
	if (at == WORLD_NONE || at >= picture->node_to_snap.count ||
		picture->node_to_snap.items[at] == WORLD_NONE) {
		return NULL;
	}
	return &picture->snap.nodes.items[picture->node_to_snap.items[at]];
}

/* Tenants whose gate is gone and that are not bound yet: their CPU, memory and slots were counted
 * with the snapshot. */
static void count_unbound(struct needs *needs)
{
	vec_for_each (const uint32_t, i, &needs->picture->unsettled) {
		const struct world_pod *p = world_class_at(needs->picture->world, WORLD_TENANT, *i);
		if (p->takes->extra == NULL || p->gpu->gated || p->node != WORLD_NONE ||
			p->gpu->capacity_pod == NULL || world_pod_terminal(p)) {
			continue;
		}
		struct place_node *n =
			node_of(needs->picture, holder_of_tenant(needs->picture->book, p->gpu));
		if (n != NULL) {
			struct extra x = extra_read(p->takes->extra, &needs->arena);
			place_reserve_extra(&needs->picture->snap, n, &x);
		}
	}
}

/* Tenants that stand in a ledger and still carry the gate will be on that node: the next one must
 * not take their CPU between the two writes (C21). */
static void count_granted(struct needs *needs, const struct ranked *ranked)
{
	struct picture *picture = needs->picture;
	for (size_t i = 0; i < ranked->count; i++) {
		const struct waiter *w = ranked->items[i].waiter;
		struct place_node *n = w->granted_step == picture->time->step
					       ? node_of(picture, w->granted_by)
					       : NULL;
		if (n != NULL) {
			place_reserve_pod(&picture->snap, n, &w->pod);
			neighbours_arrive(
				needs, (uint32_t)(n - picture->snap.nodes.items), &w->pod);
		}
	}
}

void needs_count(struct wholes *wholes, const struct ranked *ranked)
{
	struct needs *needs = wholes->needs;
	struct picture *picture = needs->picture;
	bool others = anyone_needs(wholes, ranked);
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
