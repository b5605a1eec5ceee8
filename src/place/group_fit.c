/* Several GPUs of one node at once. Few ask for that, so every GPU is looked at. */
#include "place/place.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool is_among(const uint32_t *gpus, uint32_t count, uint32_t gpu)
{
	for (uint32_t i = 0; i < count; i++) {
		if (gpus[i] == gpu) {
			return true;
		}
	}
	return false;
}

static bool gpu_serves(const struct snapshot *s, const struct place_party *p, uint32_t gpu)
{
	const struct place_gpu *g = &s->gpus.items[gpu];
	bool kept = g->kept_by != 0 && !p->past_keeps;
	return !kept && !is_among(p->has, p->has_count, gpu) &&
	       place_gpu_takes(g, p->request) == REASON_NONE;
}

/* With so many capacity pods more. Where the pod has its place already, the node has counted it,
 * and only what lasts is asked again. */
static enum unfit party_node_unfit(
	const struct snapshot *s, const struct place_party *p, uint32_t node, uint32_t more)
{
	struct place_node rest = s->nodes.items[node];
	const char *what;
	for (uint32_t i = 0; i < more; i++) {
		place_reserve_capacity(&rest, p->request->mps);
	}
	if (p->node == PLACE_NOWHERE) {
		return place_unfit(s, p->request, &rest, &what);
	}
	if (more > 0 && rest.free_slots < 0) {
		return UNFIT_SLOTS;
	}
	if (more > 0 && (rest.free_cpu_milli < 0 || rest.free_mem_bytes < 0)) {
		return rest.free_cpu_milli < 0 ? UNFIT_CPU : UNFIT_MEMORY;
	}
	return fit_lasting(p->request, &rest, &what);
}

/* Had nothing been kept there. */
static int64_t free_past_keeps(const struct snapshot *s, uint32_t node)
{
	int64_t free = s->nodes.items[node].free_gpus;
	vec_for_each (const struct place_keep, k, &s->keeps) {
		free = k->node == node && k->free_gpus > free ? k->free_gpus : free;
	}
	return free;
}

static uint32_t party_could_open(
	const struct snapshot *s, const struct place_party *p, uint32_t node)
{
	const struct place_node *n = &s->nodes.items[node];
	int64_t free = p->past_keeps	 ? free_past_keeps(s, node)
		       : n->kept_by != 0 ? 0
					 : n->free_gpus;
	bool none = n->no_opening || free <= 0 || !place_share_possible(n, p->request) ||
		    place_opens_above_quota(n, p->request);
	return none ? 0 : free < p->count ? (uint32_t)free : p->count;
}

/* GPUs that it could have, node by node. */
struct census {
	uint32_t *first; /* of each node, and one more; owned */
	uint32_t *gpus;	 /* owned */
	bool *any;	 /* the node has open GPUs at all; owned */
};

static void census_finish(struct census *c)
{
	free(c->first);
	free(c->gpus);
	free(c->any);
}

static struct census census_take(const struct snapshot *s, const struct place_party *p)
{
	struct census c = {.first = xcalloc(s->nodes.count + 2, sizeof *c.first),
		.gpus = xcalloc(s->gpus.count + 1, sizeof *c.gpus),
		.any = xcalloc(s->nodes.count + 1, sizeof *c.any)};
	CLEANUP(cleanup_free) bool *fit = xcalloc(s->gpus.count + 1, sizeof *fit);
	/* Counted one place ahead: after the places were given, each begins where it belongs. */
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		fit[i] = gpu_serves(s, p, i);
		c.any[s->gpus.items[i].node] = true;
		c.first[s->gpus.items[i].node + 2] += fit[i] ? 1 : 0;
	}
	for (size_t n = 2; n < s->nodes.count + 2; n++) {
		c.first[n] += c.first[n - 1];
	}
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		if (fit[i]) {
			c.gpus[c.first[s->gpus.items[i].node + 1]++] = i;
		}
	}
	return c;
}

static uint32_t census_of(const struct census *c, uint32_t node)
{
	return c->first[node + 1] - c->first[node];
}

/* Those of the node that are best, as many as there are and are asked for. */
static void choose_gpus(const struct snapshot *s, const struct place_party *p,
	const struct census *c, struct place_group *g)
{
	uint32_t here = census_of(c, g->node);
	const uint32_t *gpus = &c->gpus[c->first[g->node]];
	while (g->count < p->count && g->count < here) {
		uint32_t best = PLACE_NOWHERE;
		for (uint32_t i = 0; i < here; i++) {
			if (!is_among(g->gpus, g->count, gpus[i]) &&
				(best == PLACE_NOWHERE ||
					place_better(s, p->request, &s->gpus.items[gpus[i]],
						&s->gpus.items[best]))) {
				best = gpus[i];
			}
		}
		g->gpus[g->count++] = best;
	}
}

/* What all of them can give: GPUs of one node are mostly of one size, and where they are not, the
 * share is the larger one of compute and the smaller one of memory. */
static bool settle_group_share(
	const struct snapshot *s, const struct place_party *p, struct place_group *g)
{
	const struct place_node *n = &s->nodes.items[g->node];
	place_share(p->request, n->gpu_mem_mib, &g->milli, &g->mem_mib);
	for (uint32_t i = 0; i < g->count; i++) {
		int64_t milli, mib;
		place_share(p->request, s->gpus.items[g->gpus[i]].usable_mib, &milli, &mib);
		g->milli = i == 0 || milli > g->milli ? milli : g->milli;
		g->mem_mib = i == 0 || mib < g->mem_mib ? mib : g->mem_mib;
	}
	for (uint32_t i = 0; i < g->count; i++) {
		const struct place_gpu *gpu = &s->gpus.items[g->gpus[i]];
		if (place_gpu_fits(gpu, p->request, g->milli, g->mem_mib) != REASON_NONE) {
			return false;
		}
	}
	return true;
}

/* Fewer to be opened, then fewer GPUs that stay free, then by name. */
static bool group_is_better(
	const struct snapshot *s, const struct place_group *a, const struct place_group *b)
{
	const struct place_node *x = &s->nodes.items[a->node], *y = &s->nodes.items[b->node];
	if (a->count != b->count) {
		return a->count > b->count;
	}
	return x->free_gpus != y->free_gpus ? x->free_gpus < y->free_gpus
					    : strcmp(x->noun->name, y->noun->name) < 0;
}

/* A capacity pod more than the node has GPUs never opens: asked for again while the watch was
 * silent, or asked for of a GPU that the node has lost since. */
static uint32_t gpus_to_get(const struct place_node *n, uint32_t here, uint32_t opens)
{
	uint32_t surplus = n->free_gpus < 0 ? (uint32_t)-n->free_gpus : 0;
	return here + opens > surplus ? here + opens - surplus : 0;
}

static void note_group_miss(struct place_group *best, const struct place_node *n, uint32_t room)
{
	if (best->reason != REASON_SHORT_GPUS || room > best->best_count) {
		best->best_node = n->noun->name;
		best->best_count = room;
	}
	best->reason = REASON_SHORT_GPUS;
}

static void try_node(const struct snapshot *s, const struct place_party *p, const struct census *c,
	uint32_t node, struct place_group *best)
{
	const struct place_node *n = &s->nodes.items[node];
	uint32_t here = census_of(c, node);
	uint32_t opens = party_could_open(s, p, node);
	uint32_t more = here < p->count ? p->count - here : 0;
	enum unfit cause = party_node_unfit(s, p, node, more <= opens ? more : 0);
	if (cause != UNFIT_NONE) {
		best->nearest = cause > best->nearest ? cause : best->nearest;
		best->reason =
			best->reason == REASON_NO_GPU_NODE ? REASON_NODE_UNFIT : best->reason;
		return;
	}
	struct place_group g = {.node = node};
	if (more <= opens) {
		choose_gpus(s, p, c, &g);
	}
	if (more > opens || !settle_group_share(s, p, &g)) {
		uint32_t room = gpus_to_get(n, here, opens);
		note_group_miss(best, n, room < p->count ? room : p->count - 1);
		return;
	}
	if (best->node == PLACE_NOWHERE || group_is_better(s, &g, best)) {
		struct place_group was = *best;
		*best = g;
		best->reason = was.reason;
	}
}

struct place_group place_group(const struct snapshot *s, const struct place_party *p)
{
	struct place_group best = {.node = PLACE_NOWHERE, .reason = REASON_NO_GPU_NODE};
	CLEANUP(census_finish) struct census c = census_take(s, p);
	/* A node without room has GPUs all the same: what is short there are GPUs with room. */
	for (uint32_t i = 0; i < s->nodes.count; i++) {
		bool asked = p->node == PLACE_NOWHERE || p->node == i;
		if (asked && (c.any[i] || s->nodes.items[i].free_gpus > 0 || p->past_keeps)) {
			try_node(s, p, &c, i, &best);
		}
	}
	best.looked_at = (uint32_t)(s->gpus.count + s->nodes.count);
	if (best.node != PLACE_NOWHERE) {
		best.reason = REASON_NONE;
		best.best_node = NULL;
	}
	return best;
}

const struct place_keep *place_group_kept_from(
	const struct snapshot *s, const struct place_party *p)
{
	struct place_party free = *p;
	free.past_keeps = true;
	struct place_group g = s->keeps.count > 0 ? place_group(s, &free)
						  : (struct place_group){.node = PLACE_NOWHERE};
	vec_for_each (const struct place_keep, k, &s->keeps) {
		if (g.node != PLACE_NOWHERE && k->node == g.node) {
			return k;
		}
	}
	return NULL;
}
