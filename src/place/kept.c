/* What is kept for somebody: a GPU that nobody else joins, a node on which nobody else opens one.
 * It is out of the picture for whoever is looked at later in the same step, and told to them. */
#include "place/place.h"

void place_keep_gpu(struct snapshot *s, uint32_t gpu, uint32_t keeper)
{
	struct place_gpu *g = &s->gpus.items[gpu];
	if (g->kept_by != 0) {
		return;
	}
	struct place_keep made = {.node = g->node, .gpu = gpu, .keeper = keeper};
	VEC_PUSH(&s->keeps, made);
	g->kept_by = keeper;
	snapshot_gpu_moved(s, gpu);
}

void place_keep_node(struct snapshot *s, uint32_t node, uint32_t keeper)
{
	struct place_node *n = &s->nodes.items[node];
	if (n->kept_by != 0) {
		return;
	}
	/* Without a free GPU there is none that could be had otherwise. */
	if (n->free_gpus > 0) {
		struct place_keep made = {node, PLACE_NOWHERE, keeper, n->free_gpus};
		VEC_PUSH(&s->keeps, made);
	}
	n->kept_by = keeper;
	snapshot_node_moved(s, node);
}

static bool could_join(const struct snapshot *s, const struct place_request *r, uint32_t gpu)
{
	const struct place_gpu *g = &s->gpus.items[gpu];
	return place_gpu_takes(g, r) == REASON_NONE &&
	       place_unfit(s, r, &s->nodes.items[g->node], NULL) == UNFIT_NONE;
}

static bool node_could_open(const struct snapshot *s, const struct place_request *r, uint32_t node)
{
	struct place_node rest = s->nodes.items[node];
	if (rest.no_opening || !place_share_possible(&rest, r) ||
		place_opens_above_quota(&rest, r)) {
		return false;
	}
	place_reserve_capacity(&rest, r->mps);
	return place_unfit(s, r, &rest, NULL) == UNFIT_NONE;
}

const struct place_keep *place_kept_from(const struct snapshot *s, const struct place_request *r)
{
	vec_for_each (const struct place_keep, k, &s->keeps) {
		bool could = k->gpu != PLACE_NOWHERE ? could_join(s, r, k->gpu)
						     : node_could_open(s, r, k->node);
		if (could) {
			return k;
		}
	}
	return NULL;
}

void place_note_kept(
	const struct snapshot *s, const struct place_request *r, struct place_verdict *v)
{
	const struct place_gpu *best = NULL;
	vec_for_each (const struct place_keep, k, &s->keeps) {
		const struct place_gpu *g = k->gpu != PLACE_NOWHERE ? &s->gpus.items[k->gpu] : NULL;
		if (g == NULL || (best != NULL && g->free_milli <= best->free_milli)) {
			continue;
		}
		enum reason reason = place_gpu_takes(g, r);
		if (reason != REASON_NONE &&
			place_unfit(s, r, &s->nodes.items[g->node], NULL) == UNFIT_NONE) {
			best = g;
			v->reason = reason;
			place_note_miss(s, v, k->gpu);
		}
	}
}
