/* Who runs on which GPU, and which of them may be preempted. */
#include "scheduling/incumbent.h"

#include <stdlib.h>

#include "demand/rank.h"
#include "demand/wholes.h"
#include "guardian/evict.h"
#include "ledger/ledger.h"
#include "scheduling/preempt.h"
#include "scheduling/preempt_set.h"
#include "scheduling/scheduling.h"

/* By GPU, and in an order that does not depend on chance. */
static int by_gpu(const void *a, const void *b)
{
	const struct incumbent *x = a, *y = b;
	if (x->gpu != y->gpu) {
		return x->gpu < y->gpu ? -1 : 1;
	}
	return strcmp(world_pod_uid(x->pod), world_pod_uid(y->pod));
}

void incumbents_gather(struct preempting *preempting)
{
	struct incumbents *all = &preempting->incumbents;
	const struct world *world = preempting->picture->world;
	VEC_CLEAR(all);
	for (size_t i = 0; i < world_class_count(world, WORLD_TENANT); i++) {
		const struct world_pod *t = world_class_at(world, WORLD_TENANT, i);
		if (t->gpu->gated || t->gpu->uuid == NULL || world_pod_terminal(t)) {
			continue;
		}
		struct incumbent one = {.pod = t, .slot = world_class_slot(world, WORLD_TENANT, i)};
		one.leaves = evict_look(preempting->evictions, t, REASON_PREEMPTED) == EVICT_GOING;
		struct told told = told_of(t->gpu->uuid, NULL);
		while (told_next(&told)) {
			one.gpu = snap_gpu_of_pod(preempting->picture, t, told.uuid);
			if (one.gpu != WORLD_NONE) {
				VEC_PUSH(all, one);
			}
		}
	}
	if (all->count > 1) {
		qsort(all->items, all->count, sizeof *all->items, by_gpu);
	}
}

struct incumbent_range incumbents_of(const struct preempting *preempting, uint32_t gpu)
{
	const struct incumbents *all = &preempting->incumbents;
	size_t low = 0, high = all->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (all->items[middle].gpu < gpu) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	struct incumbent_range r = {low, low};
	while (r.end < all->count && all->items[r.end].gpu == gpu) {
		r.end++;
	}
	return r;
}

void incumbents_contest(
	struct preempting *preempting, uint32_t gpu, int32_t priority, struct contest *ret)
{
	struct incumbent_range range = incumbents_of(preempting, gpu);
	ret->gpu = preempting->picture->snap.gpus.items[gpu];
	ret->node = preempting->picture->snap.nodes.items[ret->gpu.node];
	ret->count = 0;
	/* The GPU may count a tenant that is not listed, whose grant was not told yet: then its
	 * rules are not known. */
	ret->rules_known = ret->gpu.tenants == range.end - range.first;
	ret->stay = (struct manners){
		.company = place_nobody(ret->gpu.mps), .max_tenants = MODEL_GRANTS_MAX};
	for (size_t i = range.first; i < range.end; i++) {
		const struct incumbent *one = &preempting->incumbents.items[i];
		struct manners rules =
			manners_of_tenant(preempting->scheduling->companies, one->pod, one->slot);
		/* Of a lower priority, and no budget refuses it now. */
		bool may_go = one->pod->gpu->priority < priority &&
			      evict_look(preempting->evictions, one->pod, REASON_PREEMPTED) !=
				      EVICT_REFUSED;
		if (one->leaves) {
			contest_give_back(&ret->gpu, &ret->node, one->pod);
		} else if (ret->count < MODEL_GRANTS_MAX && may_go) {
			ret->rules[ret->count] = rules;
			ret->victims[ret->count++] = one->pod;
		} else {
			contest_join(&ret->stay, &rules);
		}
	}
}

/* What evictions have freed is kept from everybody else, whoever ranks before. */
bool kept_from(const struct wholes *wholes, uint32_t keeper, const struct pod *pod, bool whole)
{
	if (keeper == 0) {
		return false;
	}
	const struct keeper *k = &wholes->keepers.items[keeper - 1];
	int class = pod_rank_class(k->pod, pod);
	if (k->pod == pod) {
		return false;
	}
	if (k->held || class != 0 || k->whole != whole) {
		/* Of equal rank the whole pod comes first (C16). */
		return k->held || class < 0 || (class == 0 && k->whole);
	}
	return pod_rank(k->pod, pod) < 0;
}
