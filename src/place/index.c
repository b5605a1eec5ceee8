/* Best fit by index. Verdict for verdict what walk.c says, which the tests compare. */
#include "index.h"

#include "base/alloc.h"
#include "index_build.h"
#include "place/fit.h"
#include "place/gpu_fit.h"
#include "shape.h"

/* One search. */
struct search {
	const struct snapshot *s;
	const struct place_request *r;
	struct shape *shape;
	uint32_t looked_at;
};

static struct search search_of(const struct snapshot *s, const struct place_request *r)
{
	return (struct search){s, r, shape_of(s, r), 0};
}

static enum unfit search_node_unfit(struct search *f, uint32_t node)
{
	f->looked_at++;
	return shape_unfit(f->s, f->r, f->shape, node, &f->s->nodes.items[node]);
}

/* Who asks for nothing of a thing is not kept away by there being less than nothing of it; but a
 * node without a slot offers least of all. */
static struct tree_amounts needs_of(const struct place_request *r)
{
	return (struct tree_amounts){.milli = INT64_MIN,
		.mib = INT64_MIN,
		.cpu = r->pod->cpu_milli > 0 ? r->pod->cpu_milli : INT64_MIN + 1,
		.mem = r->pod->mem_bytes > 0 ? r->pod->mem_bytes : INT64_MIN + 1,
		.tenants = UINT32_MAX};
}

static bool gpu_suits(void *data, uint32_t at)
{
	struct search *f = data;
	return search_node_unfit(f, f->s->gpus.items[at].node) == UNFIT_NONE;
}

/* Where few nodes suit the request at all, their GPUs are looked at one by one: in the trees they
 * would be found only after all that are tighter elsewhere. */
#define FEW_NODES 16

static void know_nodes(struct search *f)
{
	struct shape *shape = f->shape;
	size_t count = f->s->nodes.count;
	/* For one request alone it would be a look at every node. */
	if (shape->nodes != NULL || shape->asked < 2) {
		return;
	}
	shape->nodes = xmalloc((count + 1) * sizeof *shape->nodes);
	for (uint32_t i = 0; i < count; i++) {
		if (shape_lasting(f->s, f->r, shape, i) == UNFIT_NONE) {
			shape->nodes[shape->node_count++] = i;
		}
	}
	f->looked_at += (uint32_t)count;
}

static bool few_suit(const struct search *f)
{
	return f->shape->nodes != NULL &&
	       (size_t)f->shape->node_count * FEW_NODES < f->s->nodes.count;
}

static void keep_better(struct search *f, struct place_verdict *v, uint32_t at)
{
	const struct place_gpu *g = &f->s->gpus.items[at];
	if (v->gpu != PLACE_NOWHERE && !place_better(f->s, f->r, g, &f->s->gpus.items[v->gpu])) {
		return;
	}
	v->gpu = at;
	v->node = g->node;
	place_share(f->r, g->usable_mib, &v->milli, &v->mem_mib);
}

static void seek_in_company(struct search *f, struct place_verdict *v, uint64_t company)
{
	const struct place_index *x = f->s->index;
	struct tree_seek seek = {.need = needs_of(f->r), .suits = gpu_suits, .data = f};
	const struct tree_leaf *leaves = f->r->spread ? x->spread.items : x->fit.items;
	seek.need.tenants = f->r->max_tenants;
	size_t i = index_class_from(x, company, INT64_MIN);
	for (; i < x->classes.count && x->classes.items[i].company == company; i++) {
		const struct size_class *class = &x->classes.items[i];
		uint32_t root = f->r->spread ? class->spread_root : class->root;
		place_share(f->r, class->usable_mib, &seek.need.milli, &seek.need.mib);
		bool allowed = !place_above_quota(f->r, seek.need.milli);
		uint32_t at = allowed ? tree_find(leaves, root, &seek) : TREE_NONE;
		if (at != TREE_NONE) {
			keep_better(f, v, at);
		}
	}
	f->looked_at += seek.looked_at;
}

static void seek_in_trees(struct search *f, struct place_verdict *v)
{
	if (f->r->spread) {
		index_know_spread(f->s);
	}
	seek_in_company(f, v, place_nobody(f->r->mps));
	if (f->r->company != place_nobody(f->r->mps)) {
		seek_in_company(f, v, f->r->company);
	}
}

/* Calls `each` for the GPUs of the few nodes that suit the request. */
static void seek_on_nodes(struct search *f, struct place_verdict *v,
	void (*each)(struct search *, struct place_verdict *, uint32_t))
{
	const struct place_index *x = f->s->index;
	for (uint32_t i = 0; i < f->shape->node_count; i++) {
		uint32_t node = f->shape->nodes[i];
		if (x->first_gpu.items[node] == TREE_NONE ||
			search_node_unfit(f, node) != UNFIT_NONE) {
			continue;
		}
		for (uint32_t at = x->first_gpu.items[node]; at != TREE_NONE;
			at = x->next_gpu.items[at]) {
			f->looked_at++;
			each(f, v, at);
		}
	}
}

static void take_if_fits(struct search *f, struct place_verdict *v, uint32_t at)
{
	const struct place_gpu *g = &f->s->gpus.items[at];
	if (g->kept_by == 0 && place_gpu_takes(g, f->r) == REASON_NONE) {
		keep_better(f, v, at);
	}
}

/* The GPU with the most that is free, on a node that the pod may use. `v->gpu` is it meanwhile. */
static void note_if_closer(struct search *f, struct place_verdict *v, uint32_t at)
{
	const struct tree_leaf *leaves = f->s->index->miss.items;
	if (f->s->gpus.items[at].kept_by != 0) {
		return;
	}
	if (v->gpu == PLACE_NOWHERE || tree_compare(&leaves[at].key, &leaves[v->gpu].key) < 0) {
		v->gpu = at;
	}
}

static uint32_t closest_miss(struct search *f)
{
	struct place_verdict v = {.gpu = PLACE_NOWHERE};
	if (few_suit(f)) {
		seek_on_nodes(f, &v, note_if_closer);
		return v.gpu;
	}
	struct tree_seek seek = {.need = needs_of(f->r), .suits = gpu_suits, .data = f};
	uint32_t at = tree_find(f->s->index->miss.items, f->s->index->miss_root, &seek);
	f->looked_at += seek.looked_at;
	return at;
}

/* Has it a GPU that is not kept for somebody? */
static bool has_gpu(const struct search *f, uint32_t node)
{
	const struct place_index *x = f->s->index;
	uint32_t at = x->first_gpu.items[node];
	while (at != TREE_NONE && f->s->gpus.items[at].kept_by != 0) {
		at = x->next_gpu.items[at];
	}
	return at != TREE_NONE;
}

/* No node suits it: the GPU with the most of all, and the cause that is easiest to lift. */
static void note_unfit(struct search *f, struct place_verdict *v)
{
	const struct place_index *x = f->s->index;
	v->reason = REASON_NODE_UNFIT;
	place_note_miss(f->s, v, tree_first(x->miss.items, x->miss_root));
	for (uint32_t i = 0; i < f->s->nodes.count; i++) {
		if (has_gpu(f, i)) {
			enum unfit cause = search_node_unfit(f, i);
			v->nearest = cause > v->nearest ? cause : v->nearest;
		}
	}
}

static void note_why_none(struct search *f, struct place_verdict *v)
{
	if (f->s->gpus.count == 0) {
		return;
	}
	index_know_misses(f->s);
	if (f->s->index->miss_root == TREE_NONE) {
		return;
	}
	uint32_t at = closest_miss(f);
	if (at == TREE_NONE) {
		note_unfit(f, v);
		return;
	}
	v->reason = place_gpu_takes(&f->s->gpus.items[at], f->r);
	place_note_miss(f->s, v, at);
}

struct place_verdict index_best_fit(const struct snapshot *s, const struct place_request *r)
{
	struct place_verdict v = {
		.gpu = PLACE_NOWHERE, .node = PLACE_NOWHERE, .reason = REASON_NO_GPU_NODE};
	struct search f = search_of(s, r);
	know_nodes(&f);
	if (few_suit(&f)) {
		seek_on_nodes(&f, &v, take_if_fits);
	} else {
		seek_in_trees(&f, &v);
	}
	if (v.gpu == PLACE_NOWHERE) {
		note_why_none(&f, &v);
	}
	place_settle(&v, f.looked_at);
	return v;
}

/* Both must fit, the capacity pod and the tenant. */
static enum unfit rest_unfit(struct search *f, uint32_t node)
{
	struct place_node rest = f->s->nodes.items[node];
	place_reserve_capacity(&rest, f->r->mps);
	f->looked_at++;
	return shape_unfit(f->s, f->r, f->shape, node, &rest);
}

static bool node_opens(void *data, uint32_t at)
{
	struct search *f = data;
	const struct place_node *n = &f->s->nodes.items[at];
	return !n->no_opening && place_share_possible(n, f->r) &&
	       !place_opens_above_quota(n, f->r) && rest_unfit(f, at) == UNFIT_NONE;
}

static void note_each_closed(struct search *f, struct place_verdict *v)
{
	for (uint32_t i = 0; i < f->s->nodes.count; i++) {
		const struct place_node *n = &f->s->nodes.items[i];
		if (!f->s->index->open.items[i].in || !place_share_possible(n, f->r)) {
			continue;
		}
		if (place_opens_above_quota(n, f->r)) {
			place_note_quota(v);
			continue;
		}
		enum unfit cause = rest_unfit(f, i);
		v->nearest = cause > v->nearest ? cause : v->nearest;
		place_note_closed(v, n, cause == UNFIT_NONE);
	}
}

struct place_verdict index_open(const struct snapshot *s, const struct place_request *r)
{
	struct place_verdict v = {
		.gpu = PLACE_NOWHERE, .node = PLACE_NOWHERE, .reason = REASON_NO_GPU_NODE};
	index_know_opens(s);
	const struct place_index *x = s->index;
	if (x->open_root == TREE_NONE) {
		return v;
	}
	struct search f = search_of(s, r);
	struct tree_seek seek = {.need = needs_of(r), .suits = node_opens, .data = &f};
	uint32_t at = tree_find(x->open.items, x->open_root, &seek);
	if (at != TREE_NONE) {
		v.node = at;
		place_share(r, s->nodes.items[at].gpu_mem_mib, &v.milli, &v.mem_mib);
	} else {
		note_each_closed(&f, &v);
	}
	place_settle(&v, f.looked_at + seek.looked_at);
	return v;
}
