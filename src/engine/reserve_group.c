/* C17 for a tenant of several GPUs: of one node the GPUs on which the least is missing, and of all
 * nodes the one where the least is missing on them together. A GPU that nobody has opened lacks
 * nothing. */
#include "whole.h"

#include "state.h"

/* What would be kept on one node. */
struct camp {
	uint32_t gpus[MODEL_GPU_COUNT_MAX]; /* by what is missing, the least first */
	struct lack lacks[MODEL_GPU_COUNT_MAX];
	uint32_t count, opens;
	struct lack sum;
};

static bool is_less(const struct lack *a, const struct lack *b)
{
	return a->milli != b->milli ? a->milli < b->milli : a->mib < b->mib;
}

/* Of those that are as good the first stays, so that the choice does not jump. */
static void camp_add(struct camp *c, uint32_t most, uint32_t gpu, const struct lack *on)
{
	uint32_t at = c->count < most ? c->count : most - 1;
	if (c->count == most && !is_less(on, &c->lacks[at])) {
		return;
	}
	c->count += c->count < most ? 1 : 0;
	for (; at > 0 && is_less(on, &c->lacks[at - 1]); at--) {
		c->gpus[at] = c->gpus[at - 1];
		c->lacks[at] = c->lacks[at - 1];
	}
	c->gpus[at] = gpu;
	c->lacks[at] = *on;
}

/* False: the node has not so many GPUs for it. What can be opened is taken instead of what lacks
 * something. */
static bool camp_close(struct picture *picture, struct camp *c, uint32_t node,
	const struct place_request *r, uint32_t most)
{
	const struct place_node *n = &picture->snap.nodes.items[node];
	bool opens =
		n->kept_by == 0 && !n->no_opening && n->free_gpus > 0 && place_share_possible(n, r);
	uint32_t free = opens ? most : 0;
	free = n->free_gpus < free ? (uint32_t)n->free_gpus : free;
	while (c->opens < free &&
		(c->count + c->opens < most ||
			(c->count > 0 && (c->lacks[c->count - 1].milli > 0 ||
						 c->lacks[c->count - 1].mib > 0)))) {
		c->count -= c->count + c->opens >= most ? 1 : 0;
		c->opens++;
	}
	for (uint32_t i = 0; i < c->count; i++) {
		c->sum.milli += c->lacks[i].milli;
		c->sum.mib += c->lacks[i].mib;
	}
	return c->count + c->opens >= most && place_unfit(&picture->snap, r, n, NULL) == UNFIT_NONE;
}

/* Nodes in the order of the picture, which is that of the world. */
static uint32_t nearest(
	struct picture *picture, const struct place_request *r, uint32_t most, struct camp *ret)
{
	CLEANUP(cleanup_free)
	struct camp *camps = xcalloc(picture->snap.nodes.count + 1, sizeof *camps);
	uint32_t best = PLACE_NOWHERE;
	struct lack on;
	for (uint32_t i = 0; i < picture->snap.gpus.count; i++) {
		const struct place_gpu *g = &picture->snap.gpus.items[i];
		if (lack_in_the_end(g, r, &on)) {
			camp_add(&camps[g->node], most, i, &on);
		}
	}
	for (uint32_t i = 0; i < picture->snap.nodes.count; i++) {
		if (camp_close(picture, &camps[i], i, r, most) &&
			(best == PLACE_NOWHERE || is_less(&camps[i].sum, &camps[best].sum))) {
			best = i;
		}
	}
	*ret = camps[best != PLACE_NOWHERE ? best : 0];
	picture->looked_at += picture->snap.gpus.count + picture->snap.nodes.count;
	return best;
}

uint32_t reserve_group(struct wholes *wholes, struct waiter *w, const struct place_request *r)
{
	struct camp c;
	uint32_t node = nearest(wholes->picture, r, waiter_count(w), &c);
	if (node == PLACE_NOWHERE) {
		return 0;
	}
	uint32_t keeper = keeper_add(wholes, &w->pod, false);
	for (uint32_t i = 0; i < c.count; i++) {
		place_keep_gpu(&wholes->picture->snap, c.gpus[i], keeper);
	}
	if (c.opens > 0) {
		place_keep_node(&wholes->picture->snap, node, keeper);
	}
	wholes_picture_changed(wholes);
	return c.count + c.opens;
}
