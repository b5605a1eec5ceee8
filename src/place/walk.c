/* Best fit over the GPUs that there are, and the choice of a node for one more, by a look at all of
 * them. */
#include "walk.h"

#include <string.h>

#include "place/fit.h"
#include "place/gpu_fit.h"

static bool node_serves(const struct snapshot *s, const struct place_request *r,
	const struct place_node *n, struct place_verdict *v)
{
	enum unfit cause = place_unfit(s, r, n, NULL);
	v->nearest = cause > v->nearest ? cause : v->nearest;
	return cause == UNFIT_NONE;
}

/* Which miss to tell a person: the GPU with most of what was short, on a node that the pod may use
 * if there is any; what is short elsewhere does not matter to it. */
static void note_gpu_miss(struct place_verdict *v, const struct snapshot *s, uint32_t at,
	const struct place_request *r, enum reason reason)
{
	const struct place_gpu *g = &s->gpus.items[at];
	bool settled = v->best_node != NULL && v->reason != REASON_NODE_UNFIT;
	bool closer = v->best_node == NULL || g->free_milli > v->best_milli ||
		      (g->free_milli == v->best_milli && g->free_mib > v->best_mib);
	if (settled && !closer) {
		return;
	}
	if (reason != REASON_NODE_UNFIT && !node_serves(s, r, &s->nodes.items[g->node], v)) {
		reason = REASON_NODE_UNFIT;
	}
	bool unfit = reason == REASON_NODE_UNFIT;
	if (settled ? unfit : unfit && !closer) {
		return;
	}
	place_note_miss(s, v, at);
	v->reason = reason;
}

struct place_verdict walk_best_fit(const struct snapshot *s, const struct place_request *r)
{
	struct place_verdict v = {
		.gpu = PLACE_NOWHERE, .node = PLACE_NOWHERE, .reason = REASON_NO_GPU_NODE};
	int64_t milli = 0, mib = 0, usable_mib = INT64_MIN;
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		/* Where one fits, nobody asks for a miss. */
		bool worse =
			v.gpu != PLACE_NOWHERE && !place_better(s, r, g, &s->gpus.items[v.gpu]);
		if (g->kept_by != 0 || worse) {
			continue;
		}
		if (g->usable_mib != usable_mib) {
			usable_mib = g->usable_mib;
			place_share(r, usable_mib, &milli, &mib);
		}
		enum reason reason = place_gpu_fits(g, r, milli, mib);
		if (reason == REASON_NONE && !node_serves(s, r, &s->nodes.items[g->node], &v)) {
			reason = REASON_NODE_UNFIT;
		}
		if (reason != REASON_NONE && v.gpu == PLACE_NOWHERE) {
			note_gpu_miss(&v, s, i, r, reason);
		}
		if (reason != REASON_NONE) {
			continue;
		}
		v.gpu = i;
		v.node = g->node;
		v.milli = milli;
		v.mem_mib = mib;
	}
	place_settle(&v, s->gpus.count);
	return v;
}

struct place_verdict walk_open(const struct snapshot *s, const struct place_request *r)
{
	struct place_verdict v = {
		.gpu = PLACE_NOWHERE, .node = PLACE_NOWHERE, .reason = REASON_NO_GPU_NODE};
	for (uint32_t i = 0; i < s->nodes.count; i++) {
		const struct place_node *n = &s->nodes.items[i];
		if (!place_opens(n) || !place_share_possible(n, r)) {
			continue;
		}
		if (place_opens_above_quota(n, r)) {
			place_note_quota(&v);
			continue;
		}
		/* Both must fit, or the GPU would be opened for nobody, again and again. */
		struct place_node rest = *n;
		place_reserve_capacity(&rest, r->mps);
		bool suits = node_serves(s, r, &rest, &v);
		if (n->no_opening || !suits) {
			place_note_closed(&v, &rest, suits);
			continue;
		}
		/* The node with the fewest free GPUs left: whole nodes stay whole. */
		const struct place_node *best =
			v.node != PLACE_NOWHERE ? &s->nodes.items[v.node] : NULL;
		if (best == NULL || n->free_gpus < best->free_gpus ||
			(n->free_gpus == best->free_gpus &&
				strcmp(n->noun->name, best->noun->name) < 0)) {
			v.node = i;
		}
	}
	if (v.node != PLACE_NOWHERE) {
		place_share(r, s->nodes.items[v.node].gpu_mem_mib, &v.milli, &v.mem_mib);
	}
	place_settle(&v, s->nodes.count);
	return v;
}
