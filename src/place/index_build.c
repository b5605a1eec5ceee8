/* Making the index of a picture, and keeping it true while shares are taken out of the picture. */
#include "index_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "place/fit.h"
#include "place/gpu_fit.h"
#include "shape.h"

bool index_is_built(const struct snapshot *s)
{
	return s->index != NULL && s->index->built;
}

/* What the node has left for one more pod; without a slot, nothing for anybody. */
static void node_amounts(const struct place_node *n, struct tree_amounts *a)
{
	bool slot = n->free_slots >= 1;
	a->cpu = slot ? n->free_cpu_milli : INT64_MIN;
	a->mem = slot ? n->free_mem_bytes : INT64_MIN;
}

static struct tree_amounts gpu_amounts(const struct snapshot *s, const struct place_gpu *g)
{
	struct tree_amounts a = {.milli = g->free_milli,
		.mib = g->usable_mib > 0 ? g->free_mib : INT64_MAX,
		.tenants = g->tenants};
	node_amounts(&s->nodes.items[g->node], &a);
	return a;
}

static struct tree_key fit_key(const struct snapshot *s, const struct place_gpu *g)
{
	return (struct tree_key){(int64_t)g->state, g->free_milli, g->free_mib,
		s->index->rank.items[g->node], g->capacity_pod};
}

static struct tree_key spread_key(const struct snapshot *s, const struct place_gpu *g)
{
	return (struct tree_key){-g->free_milli, (int64_t)g->state, -g->free_mib,
		s->index->rank.items[g->node], g->capacity_pod};
}

/* The most that is free first; of two that are alike, the one that the picture has first. */
static struct tree_key miss_key(const struct place_gpu *g, uint32_t at)
{
	return (struct tree_key){0, -g->free_milli, -g->free_mib, at, NULL};
}

/* May anybody at all join it? */
static bool gpu_is_joinable(const struct place_gpu *g)
{
	return !g->fenced && !g->held_off && g->kept_by == 0 && g->tenants < g->max_tenants &&
	       g->tenants < MODEL_GRANTS_MAX && g->free_milli > 0 && g->company != PLACE_MIXED;
}

size_t index_class_from(const struct place_index *x, uint64_t company, int64_t usable_mib)
{
	size_t low = 0, high = x->classes.count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct size_class *c = &x->classes.items[mid];
		bool before =
			c->company != company ? c->company < company : c->usable_mib < usable_mib;
		low = before ? mid + 1 : low;
		high = before ? high : mid;
	}
	return low;
}

/* Made where there is none. */
static struct size_class *size_class_of(struct place_index *x, uint64_t company, int64_t usable_mib)
{
	size_t low = index_class_from(x, company, usable_mib);
	const struct size_class *found = low < x->classes.count ? &x->classes.items[low] : NULL;
	if (found == NULL || found->company != company || found->usable_mib != usable_mib) {
		struct size_class made = {company, usable_mib, TREE_NONE, TREE_NONE};
		VEC_PUSH(&x->classes, made);
		struct size_class *at = &x->classes.items[low];
		memmove(at + 1, at, (x->classes.count - 1 - low) * sizeof *at);
		*at = made;
	}
	return &x->classes.items[low];
}

struct named {
	const char *name;
	uint32_t node;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static void rank_nodes(const struct snapshot *s)
{
	struct place_index *x = s->index;
	CLEANUP(cleanup_free) struct named *names = xmalloc((s->nodes.count + 1) * sizeof *names);
	for (uint32_t i = 0; i < s->nodes.count; i++) {
		names[i] = (struct named){s->nodes.items[i].noun->name, i};
	}
	qsort(names, s->nodes.count, sizeof *names, compare_names);
	VEC_RESERVE(&x->rank, s->nodes.count);
	x->rank.count = s->nodes.count;
	for (uint32_t i = 0; i < s->nodes.count; i++) {
		x->rank.items[names[i].node] = i;
	}
}

/* qsort knows no owner: the key goes with the number. */
struct keyed {
	uint64_t company;
	int64_t size;
	struct tree_key key;
	uint32_t at;
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	if (x->company != y->company) {
		return x->company < y->company ? -1 : 1;
	}
	if (x->size != y->size) {
		return x->size < y->size ? -1 : 1;
	}
	return tree_compare(&x->key, &y->key);
}

struct keyed_list {
	VEC_FIELDS(struct keyed);
};

static void keyed_finish(struct keyed_list *list)
{
	VEC_FINISH(list);
}

static void keyed_sort(struct keyed_list *list)
{
	if (list->count > 1) {
		qsort(list->items, list->count, sizeof *list->items, by_key);
	}
}

/* One tree of those from `from` to `to`, which are in order. */
static uint32_t plant_tree(struct place_index *x, struct leaves *leaves,
	const struct keyed_list *list, size_t from, size_t to)
{
	VEC_CLEAR(&x->sorted);
	VEC_RESERVE(&x->spine, to - from + 1);
	for (size_t i = from; i < to; i++) {
		const struct keyed *k = &list->items[i];
		leaves->items[k->at].key = k->key;
		VEC_PUSH(&x->sorted, k->at);
	}
	return tree_build(leaves->items, x->sorted.items, x->sorted.count, x->spine.items);
}

static void leaf_push(struct leaves *leaves, struct tree_amounts own)
{
	struct tree_leaf l = {.own = own, .left = TREE_NONE, .right = TREE_NONE};
	VEC_PUSH(leaves, l);
}

static void list_gpu(struct place_index *x, const struct place_gpu *g, uint32_t at)
{
	VEC_PUSH(&x->next_gpu, x->first_gpu.items[g->node]);
	x->first_gpu.items[g->node] = at;
}

typedef struct tree_key (*key_of)(const struct snapshot *s, const struct place_gpu *g);

/* Those that may be joined, in the order of their classes and keys. */
static void list_joinable(const struct snapshot *s, key_of key, struct keyed_list *list)
{
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		if (gpu_is_joinable(g)) {
			struct keyed k = {g->company, g->usable_mib, key(s, g), i};
			VEC_PUSH(list, k);
		}
	}
	keyed_sort(list);
}

static size_t end_of_class(const struct keyed_list *list, size_t from)
{
	const struct keyed *first = &list->items[from];
	size_t to = from;
	while (to < list->count && list->items[to].company == first->company &&
		list->items[to].size == first->size) {
		to++;
	}
	return to;
}

static void build_fit(const struct snapshot *s)
{
	struct place_index *x = s->index;
	CLEANUP(keyed_finish) struct keyed_list list = {0};
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		list_gpu(x, g, i);
		leaf_push(&x->fit, gpu_amounts(s, g));
		VEC_PUSH(&x->company, g->company);
	}
	list_joinable(s, fit_key, &list);
	for (size_t from = 0, to; from < list.count; from = to) {
		to = end_of_class(&list, from);
		struct size_class class = {list.items[from].company, list.items[from].size,
			plant_tree(x, &x->fit, &list, from, to), TREE_NONE};
		VEC_PUSH(&x->classes, class);
	}
}

void index_know_spread(const struct snapshot *s)
{
	struct place_index *x = s->index;
	if (x->knows_spread) {
		return;
	}
	CLEANUP(keyed_finish) struct keyed_list list = {0};
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		leaf_push(&x->spread, gpu_amounts(s, &s->gpus.items[i]));
	}
	list_joinable(s, spread_key, &list);
	for (size_t from = 0, to; from < list.count; from = to) {
		to = end_of_class(&list, from);
		const struct keyed *first = &list.items[from];
		uint32_t root = plant_tree(x, &x->spread, &list, from, to);
		size_class_of(x, first->company, first->size)->spread_root = root;
	}
	x->knows_spread = true;
}

void index_make(struct snapshot *s)
{
	if (s->index == NULL) {
		s->index = xcalloc(1, sizeof *s->index);
	}
	struct place_index *x = s->index;
	index_drop(x);
	rank_nodes(s);
	for (uint32_t i = 0; i < s->nodes.count; i++) {
		VEC_PUSH(&x->first_gpu, TREE_NONE);
	}
	build_fit(s);
	x->built = true;
}

void index_know_misses(const struct snapshot *s)
{
	struct place_index *x = s->index;
	if (x->knows_misses) {
		return;
	}
	CLEANUP(keyed_finish) struct keyed_list list = {0};
	for (uint32_t i = 0; i < s->gpus.count; i++) {
		const struct place_gpu *g = &s->gpus.items[i];
		struct keyed k = {0, 0, miss_key(g, i), i};
		leaf_push(&x->miss, gpu_amounts(s, g));
		if (g->kept_by == 0) {
			VEC_PUSH(&list, k);
		}
	}
	keyed_sort(&list);
	x->miss_root = plant_tree(x, &x->miss, &list, 0, list.count);
	x->knows_misses = true;
}

/* A node with a capacity pod more, the smallest; who needs a larger one looks again. */
static struct tree_amounts open_amounts(const struct place_node *n)
{
	struct place_node rest = *n;
	struct tree_amounts a = {.milli = INT64_MAX, .mib = INT64_MAX};
	place_reserve_capacity(&rest, false);
	node_amounts(&rest, &a);
	return a;
}

/* The node with the fewest free GPUs first. */
static struct tree_key open_key(const struct snapshot *s, uint32_t node)
{
	return (struct tree_key){
		s->nodes.items[node].free_gpus, 0, 0, s->index->rank.items[node], NULL};
}

void index_know_opens(const struct snapshot *s)
{
	struct place_index *x = s->index;
	if (x->knows_opens) {
		return;
	}
	CLEANUP(keyed_finish) struct keyed_list list = {0};
	for (uint32_t i = 0; i < s->nodes.count; i++) {
		leaf_push(&x->open, open_amounts(&s->nodes.items[i]));
		if (place_opens(&s->nodes.items[i])) {
			struct keyed k = {0, 0, open_key(s, i), i};
			VEC_PUSH(&list, k);
		}
	}
	keyed_sort(&list);
	x->open_root = plant_tree(x, &x->open, &list, 0, list.count);
	x->knows_opens = true;
}

static uint32_t leaf_move(struct leaves *leaves, uint32_t root, uint32_t gpu, bool in)
{
	return in ? tree_insert(leaves->items, root, gpu) : tree_erase(leaves->items, root, gpu);
}

/* Into the trees of its company and size, or out of those in which it was. */
static void move_fit(const struct snapshot *s, uint32_t gpu, bool in)
{
	struct place_index *x = s->index;
	const struct place_gpu *g = &s->gpus.items[gpu];
	struct tree_leaf *l = &x->fit.items[gpu];
	if (in ? !gpu_is_joinable(g) : !l->in) {
		return;
	}
	if (in) {
		x->company.items[gpu] = g->company;
		l->key = fit_key(s, g);
		l->own = gpu_amounts(s, g);
	}
	struct size_class *class = size_class_of(x, x->company.items[gpu], g->usable_mib);
	class->root = leaf_move(&x->fit, class->root, gpu, in);
	if (!x->knows_spread) {
		return;
	}
	if (in) {
		x->spread.items[gpu].key = spread_key(s, g);
		x->spread.items[gpu].own = l->own;
	}
	class->spread_root = leaf_move(&x->spread, class->spread_root, gpu, in);
}

static void move_miss(const struct snapshot *s, uint32_t gpu)
{
	struct place_index *x = s->index;
	const struct place_gpu *g = &s->gpus.items[gpu];
	struct tree_leaf *l = &x->miss.items[gpu];
	if (l->in) {
		x->miss_root = tree_erase(x->miss.items, x->miss_root, gpu);
	}
	l->key = miss_key(g, gpu);
	l->own = gpu_amounts(s, g);
	if (g->kept_by == 0) {
		x->miss_root = tree_insert(x->miss.items, x->miss_root, gpu);
	}
}

static void move_open(const struct snapshot *s, uint32_t node)
{
	struct place_index *x = s->index;
	struct tree_leaf *l = &x->open.items[node];
	if (l->in) {
		x->open_root = tree_erase(x->open.items, x->open_root, node);
	}
	if (place_opens(&s->nodes.items[node])) {
		l->key = open_key(s, node);
		l->own = open_amounts(&s->nodes.items[node]);
		x->open_root = tree_insert(x->open.items, x->open_root, node);
	}
}

static void refresh_fit(struct place_index *x, int64_t usable_mib, uint32_t gpu)
{
	const struct size_class *class = size_class_of(x, x->company.items[gpu], usable_mib);
	tree_refresh(x->fit.items, class->root, gpu);
	if (x->knows_spread) {
		x->spread.items[gpu].own = x->fit.items[gpu].own;
		tree_refresh(x->spread.items, class->spread_root, gpu);
	}
}

/* Its CPU, memory or slots: every GPU of it offers them. */
void index_node_changed(struct snapshot *s, uint32_t node)
{
	struct place_index *x = s->index;
	for (uint32_t i = x->first_gpu.items[node]; i != TREE_NONE; i = x->next_gpu.items[i]) {
		struct tree_amounts own = gpu_amounts(s, &s->gpus.items[i]);
		struct tree_leaf *l = &x->fit.items[i];
		l->own = own;
		if (l->in) {
			refresh_fit(x, s->gpus.items[i].usable_mib, i);
		}
		if (x->knows_misses) {
			x->miss.items[i].own = own;
			if (x->miss.items[i].in) {
				tree_refresh(x->miss.items, x->miss_root, i);
			}
		}
	}
	if (x->knows_opens) {
		move_open(s, node);
	}
}

void index_gpu_changed(struct snapshot *s, uint32_t gpu)
{
	struct place_index *x = s->index;
	const struct place_gpu *g = &s->gpus.items[gpu];
	if (gpu == x->next_gpu.count) {
		list_gpu(x, g, gpu);
		leaf_push(&x->fit, gpu_amounts(s, g));
		VEC_PUSH(&x->company, g->company);
		if (x->knows_spread) {
			leaf_push(&x->spread, gpu_amounts(s, g));
		}
		if (x->knows_misses) {
			leaf_push(&x->miss, gpu_amounts(s, g));
		}
	}
	move_fit(s, gpu, false);
	move_fit(s, gpu, true);
	if (x->knows_misses) {
		move_miss(s, gpu);
	}
}

void index_drop(struct place_index *x)
{
	x->built = x->knows_misses = x->knows_opens = x->knows_spread = false;
	VEC_CLEAR(&x->classes);
	VEC_CLEAR(&x->fit);
	VEC_CLEAR(&x->spread);
	VEC_CLEAR(&x->company);
	VEC_CLEAR(&x->miss);
	VEC_CLEAR(&x->open);
	VEC_CLEAR(&x->rank);
	VEC_CLEAR(&x->first_gpu);
	VEC_CLEAR(&x->next_gpu);
	shapes_drop(x);
}

void index_free(struct place_index *x)
{
	if (x == NULL) {
		return;
	}
	index_drop(x);
	VEC_FINISH(&x->classes);
	VEC_FINISH(&x->fit);
	VEC_FINISH(&x->spread);
	VEC_FINISH(&x->company);
	VEC_FINISH(&x->miss);
	VEC_FINISH(&x->open);
	VEC_FINISH(&x->rank);
	VEC_FINISH(&x->first_gpu);
	VEC_FINISH(&x->next_gpu);
	VEC_FINISH(&x->sorted);
	VEC_FINISH(&x->spine);
	VEC_FINISH(&x->shapes);
	free(x);
}
