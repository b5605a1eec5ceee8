/* Tenants of what is taken out of service (C13): of a node whose GPU driver is being upgraded, and
 * of a GPU whose capacity pod something is evicting. The driver's upgrade looks for pods that ask
 * for GPUs, and a tenant does not: it would wait for the capacity pods, whose budget holds them
 * until their tenants have left. So they are evicted, under their own budgets.
 *
 * A capacity pod that is merely deleted, by hand or because its node is gone, is no such case: its
 * GPU can be taken back while the tenants go on (C11). */
#include "evict.h"

#include "state.h"

#define UPGRADE_STATE "nvidia.com/gpu-driver-upgrade-state"

static const char *upgrade_state(const struct world_node *n)
{
	const char *state = n->known ? pairs_get(&n->noun.labels, UPGRADE_STATE) : NULL;
	if (text_equals(state, "pod-deletion-required")) {
		return UPGRADE_STATE "=pod-deletion-required";
	}
	return text_equals(state, "drain-required") ? UPGRADE_STATE "=drain-required" : NULL;
}

static bool is_on_disrupted(const struct engine *e, const struct world_gpu *tenant)
{
	struct told t = told_of(NULL, tenant->capacity_pod);
	while (told_next(&t)) {
		const struct holder *h = holder_find(e, t.capacity_pod);
		if (h != NULL && h->in_world && h->pod.disrupted && tenant_is_on(h, tenant)) {
			return true;
		}
	}
	return false;
}

/* Why it must leave; NULL: it may stay. */
static const char *cause_of(
	const struct engine *e, const struct world_pod *p, const char **ret_node)
{
	const struct holder *h = holder_of_tenant(e, p->gpu);
	const char *home = h != NULL ? h->node : NULL;
	uint32_t node = p->node != WORLD_NONE ? p->node
			: home != NULL	      ? world_node_find(e->world, home)
					      : WORLD_NONE;
	if (node == WORLD_NONE) {
		return NULL;
	}
	const struct world_node *n = world_node_at(e->world, node);
	const char *state = upgrade_state(n);
	*ret_node = n->name;
	if (state != NULL) {
		return state;
	}
	return is_on_disrupted(e, p->gpu) ? "the capacity pod of its GPU is being evicted" : NULL;
}

/* Mostly nothing is, and tenants are many more than nodes and capacity pods. */
static bool anything_leaves(const struct engine *e)
{
	for (uint32_t i = 0; i < world_node_slots(e->world); i++) {
		if (upgrade_state(world_node_at(e->world, i)) != NULL) {
			return true;
		}
	}
	for (size_t i = 0; i < e->holders.count; i++) {
		if (e->holders.items[i]->in_world && e->holders.items[i]->pod.disrupted) {
			return true;
		}
	}
	return false;
}

void drain_tenants(struct engine *e, struct plan *plan)
{
	if (!anything_leaves(e)) {
		return;
	}
	for (size_t i = 0; i < world_class_count(e->world, WORLD_TENANT); i++) {
		const struct world_pod *p = world_class_at(e->world, WORLD_TENANT, i);
		if (p->gpu->gated || p->gpu->uuid == NULL || p->deleting || world_pod_terminal(p)) {
			continue;
		}
		struct evict_why why = {.reason = REASON_NODE_LEAVES};
		why.facts.value = cause_of(e, p, &why.facts.best_node);
		if (why.facts.value != NULL) {
			(void)evict_tenant(e, p, &why, plan);
		}
	}
}
