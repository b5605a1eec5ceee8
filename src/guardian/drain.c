/* Tenants of what is taken out of service (C13): of a node whose GPU driver is being upgraded, and
 * of a GPU whose capacity pod something is evicting. The driver's upgrade looks for pods that ask
 * for GPUs, and a tenant does not: it would wait for the capacity pods, which wait for their
 * tenants. So they are evicted, under their own budgets.
 *
 * A capacity pod that is being ended holds its GPU through a long grace for whoever is still there
 * (C39). It cannot see when the last one has left, since the kubelet renews no file of a pod that
 * is being ended: then it is deleted a second time, with a short grace.
 *
 * One that is merely deleted, by hand or because its node is gone, evicts nobody: its GPU can be
 * taken back while the tenants go on (C11). */
#include "guardian/drain.h"

#include "guardian/departed_share.h"
#include "guardian/evict.h"
#include "ledger/ledger.h"

#define UPGRADE_STATE "nvidia.com/gpu-driver-upgrade-state"

static const char *upgrade_state(const struct world_node *n)
{
	const char *state = n->known ? pairs_get(&n->noun.labels, UPGRADE_STATE) : NULL;
	if (text_equals(state, "pod-deletion-required")) {
		return UPGRADE_STATE "=pod-deletion-required";
	}
	return text_equals(state, "drain-required") ? UPGRADE_STATE "=drain-required" : NULL;
}

static bool is_on_disrupted(const struct book *book, const struct world_gpu *tenant)
{
	struct told t = told_of(NULL, tenant->capacity_pod);
	while (told_next(&t)) {
		const struct holder *h = holder_find(book, t.capacity_pod);
		if (h != NULL && h->in_world && h->pod.disrupted && tenant_is_on(h, tenant)) {
			return true;
		}
	}
	return false;
}

/* Why it must leave; NULL: it may stay. */
static const char *cause_of(
	const struct book *book, const struct world_pod *p, const char **ret_node)
{
	const struct holder *h = holder_of_tenant(book, p->gpu);
	const char *home = h != NULL ? h->node : NULL;
	uint32_t node = p->node != WORLD_NONE ? p->node
			: home != NULL	      ? world_node_find(book->world, home)
					      : WORLD_NONE;
	if (node == WORLD_NONE) {
		return NULL;
	}
	const struct world_node *n = world_node_at(book->world, node);
	const char *state = upgrade_state(n);
	*ret_node = n->name;
	if (state != NULL) {
		return state;
	}
	return is_on_disrupted(book, p->gpu) ? "the capacity pod of its GPU is being evicted"
					     : NULL;
}

/* Mostly nothing is, and tenants are many more than nodes and capacity pods. */
static bool anything_leaves(const struct picture *picture)
{
	const struct book *book = picture->book;
	vec_for_each (const struct kept_node, n, &picture->kept.nodes) {
		if (n->upgrades) {
			return true;
		}
	}
	for (size_t i = 0; i < book->holders.count; i++) {
		if (book->holders.items[i]->in_world && book->holders.items[i]->pod.disrupted) {
			return true;
		}
	}
	return false;
}

void drain_tenants(struct evictions *evictions, struct emitter *out)
{
	const struct picture *picture = evictions->picture;
	if (!anything_leaves(picture)) {
		return;
	}
	for (size_t i = 0; i < world_class_count(picture->world, WORLD_TENANT); i++) {
		const struct world_pod *p = world_class_at(picture->world, WORLD_TENANT, i);
		if (p->gpu->gated || p->gpu->uuid == NULL || p->deleting || world_pod_terminal(p)) {
			continue;
		}
		struct evict_why why = {.reason = REASON_NODE_LEAVES};
		why.facts.value = cause_of(picture->book, p, &why.facts.best_node);
		if (why.facts.value != NULL) {
			(void)evict_tenant(evictions, p, &why, out);
		}
	}
}

/* --- its capacity pods --- */

/* Nobody is told of it any more. What was sent before may land yet. */
static bool may_land(const struct book *book, const struct holder *h)
{
	for (size_t i = 0; i < book->waiters.count; i++) {
		const struct waiter *w = book->waiters.items[i];
		for (size_t k = 0; k < w->landings.count; k++) {
			const struct landing *t = &w->landings.items[k];
			if (text_equals(t->node, h->node) &&
				text_equals(t->uuid, h->pod.identity->uuid)) {
				return true;
			}
		}
	}
	return false;
}

/* All are asked for in every step: how those went that nobody asks for is forgotten, and then their
 * share is held for minutes (C22). */
static bool is_named(const struct picture *picture, const struct holder *h)
{
	const struct ledger *l = holder_ledger(h);
	bool named = false;
	for (uint32_t i = 0; i < l->count; i++) {
		const struct world_pod *p = world_pod_by_uid(picture->world, l->items[i].uid);
		bool gated = p != NULL && p->gpu->gated;
		named = (!gated && grant_lives(picture, h, &l->items[i])) || named;
	}
	return named;
}

/* Whoever runs there and stands in no ledger. */
static bool is_run_on(const struct world *world, const struct holder *h)
{
	uint32_t node = world_node_find(world, text_or(h->node, ""));
	for (size_t i = 0; i < world_class_count(world, WORLD_TENANT); i++) {
		const struct world_pod *p = world_class_at(world, WORLD_TENANT, i);
		bool elsewhere = p->node != WORLD_NONE && p->node != node;
		if (!p->gpu->gated && !world_pod_terminal(p) && !elsewhere &&
			tenant_is_on(h, p->gpu)) {
			return true;
		}
	}
	return false;
}

/* Nor those who are gone and may run on all the same (C22). */
static bool may_run_on(const struct picture *picture, const struct holder *h)
{
	const char *uuid = h->pod.identity->uuid;
	for (size_t i = 0; i < world_departed_count(picture->world); i++) {
		const struct world_departed *d = world_departed_at(picture->world, i);
		bool there = !d->ended && d->uuid != NULL && gpu_list_has(d->uuid, uuid);
		if (there && world_pod_by_uid(picture->world, d->uid) == NULL &&
			departed_holds(picture, h, d->uid)) {
			return true;
		}
	}
	return false;
}

static bool serves_nobody(const struct picture *picture, const struct holder *h)
{
	bool named = is_named(picture, h);
	return h->pod.identity == NULL ||
	       (!named && !is_run_on(picture->world, h) && !may_run_on(picture, h) &&
		       !may_land(picture->book, h));
}

void drain_capacity(const struct picture *picture, struct emitter *out)
{
	for (size_t i = 0; i < picture->book->holders.count; i++) {
		struct holder *h = picture->book->holders.items[i];
		bool may_go = holder_waits_for_tenants(h) && serves_nobody(picture, h);
		if (may_go && !holder_is_deleted(h) && h->flight == 0 && h->avoid_rv == NULL &&
			!h->pod.ledger_bad) {
			emit_delete(out, h);
		}
	}
}
