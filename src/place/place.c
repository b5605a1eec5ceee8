/* The best GPU for one request, or the node on which to open one: index.c answers from an index
 * where there is one, else walk.c looks at every GPU, and both say the same. Also what no GPU could
 * ever hold, and how a share is taken out of the picture. */
#include "place/place.h"

#include "index_build.h"
#include "model/names.h"
#include "walk.h"

struct place_verdict place_best_fit(const struct snapshot *s, const struct place_request *r)
{
	return index_is_built(s) ? index_best_fit(s, r) : walk_best_fit(s, r);
}

bool place_would_fit(const struct snapshot *s, const struct place_request *r,
	const struct place_gpu *g, const struct place_node *n, struct place_verdict *ret_verdict)
{
	int64_t milli, mib;
	place_share(r, g->usable_mib, &milli, &mib);
	if (place_gpu_fits(g, r, milli, mib) != REASON_NONE ||
		place_unfit(s, r, n, NULL) != UNFIT_NONE) {
		return false;
	}
	*ret_verdict = (struct place_verdict){
		.gpu = PLACE_NOWHERE, .node = g->node, .milli = milli, .mem_mib = mib};
	return true;
}

bool place_never_fits(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *ret_verdict)
{
	struct place_verdict v = {.gpu = PLACE_NOWHERE,
		.node = PLACE_NOWHERE,
		.reason = REASON_LARGER_THAN_ANY_GPU,
		.best_milli = MODEL_GPU_MILLI};
	/* A part of a GPU is never more than one. */
	for (uint32_t i = 0; r->mem_mib > 0 && i < s->nodes.count; i++) {
		const struct place_node *n = &s->nodes.items[i];
		if (place_given_out_by(n) != UNFIT_NONE || !place_node_suits(r->pod, n->noun)) {
			continue;
		}
		if (place_share_possible(n, r)) {
			return false;
		}
		if (v.best_node == NULL || n->gpu_mem_mib > v.best_mib) {
			v.best_node = n->noun->name;
			v.best_mib = n->gpu_mem_mib;
		}
	}
	if (v.best_node == NULL) {
		return false;
	}
	*ret_verdict = v;
	return true;
}

struct place_verdict place_open(const struct snapshot *s, const struct place_request *r)
{
	return index_is_built(s) ? index_open(s, r) : walk_open(s, r);
}

void place_reserve_share(struct snapshot *s, const struct place_request *r, uint32_t gpu,
	int64_t milli, int64_t mem_mib)
{
	struct place_gpu *g = &s->gpus.items[gpu];
	g->free_milli -= milli;
	g->free_mib -= g->usable_mib > 0 ? mem_mib : 0;
	g->tenants++;
	g->max_tenants = g->max_tenants < r->max_tenants ? g->max_tenants : r->max_tenants;
	g->company = place_is_empty(g->company) ? r->company : g->company;
	snapshot_gpu_moved(s, gpu);
}

void place_reserve(struct snapshot *s, const struct place_request *r, const struct place_verdict *v)
{
	struct place_node *n = &s->nodes.items[s->gpus.items[v->gpu].node];
	place_reserve_pod(s, n, r->pod);
	place_reserve_share(s, r, v->gpu, v->milli, v->mem_mib);
}
