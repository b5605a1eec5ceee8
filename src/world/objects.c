/* Nodes, policies, namespaces and limit ranges: few and read often, so each keeps its decoded
 * object in a small arena of its own. */
#include "objects.h"

#include <stdlib.h>

#include "claims.h"
#include "namespaces.h"
#include "node_states.h"
#include "nodes.h"
#include "nouns.h"
#include "quotas.h"
#include "record/tables.h"
#include "slices.h"
#include "takes.h"

static bool node_name_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	return strcmp(w->nodes.items[slot]->name, key) == 0;
}

static bool namespace_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	return strcmp(w->namespaces.items[slot]->noun.name, key) == 0;
}

void objects_init(struct world *w)
{
	map_init(&w->nodes_by_name, node_name_same, w);
	map_init(&w->namespaces_by_name, namespace_same, w);
}

static void labels_drop(struct world *w, struct node *noun)
{
	for (uint32_t i = 0; i < noun->labels.count; i++) {
		intern_release(w->words, noun->labels.items[i].key);
		intern_release(w->words, noun->labels.items[i].value);
	}
	noun->labels = (struct pairs){0};
}

/* Dozens are on each node, and nearly all of them are on the others too. */
static struct pairs labels_keep(struct world *w, struct arena *a, const struct pairs *labels)
{
	if (labels->count == 0) {
		return (struct pairs){0}; /* nothing of its own, not even a block */
	}
	a->block_bytes = labels->count * sizeof(struct pair);
	struct pairs kept = {ARENA_ARRAY(a, struct pair, labels->count), labels->count};
	for (uint32_t i = 0; i < labels->count; i++) {
		kept.items[i].key = intern_add(w->words, labels->items[i].key);
		kept.items[i].value = intern_add(w->words, labels->items[i].value);
	}
	return kept;
}

/* Copies by the rows of node_table: a text without a row would be left in the arena of `from`. The
 * former noun goes last: most of its words are in the new one too, and it may be `from` itself. */
static void node_copy(struct world *w, struct world_node *n, const struct node *from)
{
	struct node rest = *from;
	struct arena arena = {0};
	rest.labels = (struct pairs){0};
	noun_copy(&arena, &node_table, &rest, &rest);
	rest.labels = labels_keep(w, &arena, &from->labels);
	labels_drop(w, &n->noun);
	arena_finish(&n->arena);
	n->arena = arena;
	n->noun = rest;
}

static void node_set(struct world *w, const struct change *c)
{
	uint32_t i = nodes_touch(w, c->node->name);
	struct world_node *n = w->nodes.items[i];
	if (n->known && n->noun.boot != NULL && c->node->boot != NULL &&
		!text_equals(n->noun.boot, c->node->boot)) {
		/* It was started anew, and whatever its agent told with it. */
		states_drop(n);
	}
	node_copy(w, n, c->node);
	n->known = true;
	n->mark = w->sync[KIND_NODE].mark;
	node_stamp(w, n);
	w->version++;
}

static void node_gone(struct world *w, const char *name)
{
	uint32_t i = map_find(&w->nodes_by_name, key_text(name), name);
	if (i != MAP_NONE && w->nodes.items[i]->known) {
		/* Names come and go with autoscaling; the place stays, what it held does not. */
		struct world_node *n = w->nodes.items[i];
		labels_drop(w, &n->noun);
		arena_finish(&n->arena);
		n->noun = (struct node){0};
		n->known = false;
		/* The next one of that name has other devices. */
		states_drop(n);
		node_stamp(w, n);
		w->version++;
	}
}

static size_t policy_index(const struct world *w, const char *name)
{
	size_t i = 0;
	while (i < w->policies.count && !text_equals(w->policies.items[i]->noun.name, name)) {
		i++;
	}
	return i;
}

static void policy_set(struct world *w, const struct change *c)
{
	size_t i = policy_index(w, c->policy->name);
	if (i == w->policies.count) {
		struct world_policy *made = xcalloc(1, sizeof *made);
		VEC_PUSH(&w->policies, made);
		VEC_PUSH(&w->policy_views, &made->noun);
	}
	struct world_policy *p = w->policies.items[i];
	noun_copy(&p->arena, &policy_table, c->policy, &p->noun);
	p->mark = w->sync[KIND_POLICY].mark;
	w->version++;
	w->policies_version++;
	w->policy_version++;
}

static void policy_remove(struct world *w, size_t i)
{
	struct world_policy *p = w->policies.items[i];
	arena_finish(&p->arena);
	free(p);
	VEC_REMOVE_SWAP(&w->policies, i);
	VEC_REMOVE_SWAP(&w->policy_views, i);
	w->version++;
	w->policies_version++;
	w->policy_version++;
}

static void namespace_set(struct world *w, const struct change *c)
{
	struct world_namespace *n = namespace_touch(w, c->namespace->name);
	noun_copy(&n->arena, &namespace_table, c->namespace, &n->noun);
	n->known = true;
	n->mark = w->sync[KIND_NAMESPACE].mark;
	w->version++;
	w->policy_version++;
}

static void range_remove(struct world *w, size_t i)
{
	struct range_key *r = &w->ranges.items[i];
	namespace_touch(w, r->ns)->gpu_limits--;
	intern_release(w->words, r->ns);
	intern_release(w->words, r->name);
	VEC_REMOVE_SWAP(&w->ranges, i);
}

static void range_gone(struct world *w, const char *ns, const char *name)
{
	for (size_t i = 0; i < w->ranges.count; i++) {
		if (text_equals(w->ranges.items[i].ns, ns) &&
			text_equals(w->ranges.items[i].name, name)) {
			range_remove(w, i);
			return;
		}
	}
}

static void range_set(struct world *w, const struct limit_range *l)
{
	range_gone(w, l->ns, l->name);
	if (!l->limits_gpus) {
		return;
	}
	struct range_key key = {intern_add(w->words, l->ns), intern_add(w->words, l->name),
		w->sync[KIND_LIMIT_RANGE].mark};
	VEC_PUSH(&w->ranges, key);
	namespace_touch(w, l->ns)->gpu_limits++;
}

void objects_set(struct world *w, const struct change *c)
{
	switch (c->kind) {
	case KIND_NODE:
		node_set(w, c);
		return;
	case KIND_POLICY:
		policy_set(w, c);
		return;
	case KIND_NAMESPACE:
		namespace_set(w, c);
		return;
	case KIND_LIMIT_RANGE:
		range_set(w, c->limit_range);
		return;
	case KIND_QUOTA:
		quotas_set(w, c);
		return;
	case KIND_SLICE:
		slices_set(w, c->slice);
		return;
	case KIND_CLAIM:
		claims_set(w, c);
		return;
	case KIND_STATE:
		states_set(w, c);
		return;
	case KIND_POD:
	case KIND_RECOMMENDATION:
	case KIND_GROUP:
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
	case KIND_POD_GROUP:
	case KIND_COUNT:
		break;
	}
	BUG("not an object of this file");
}

void objects_gone(struct world *w, const struct change *c)
{
	size_t i;
	uint32_t at;
	switch (c->kind) {
	case KIND_NODE:
		node_gone(w, c->name);
		return;
	case KIND_POLICY:
		i = policy_index(w, c->name);
		if (i < w->policies.count) {
			policy_remove(w, i);
		}
		return;
	case KIND_NAMESPACE:
		at = map_find(&w->namespaces_by_name, key_text(c->name), c->name);
		if (at != MAP_NONE) {
			w->namespaces.items[at]->known = false;
		}
		w->version++;
		w->policy_version++;
		return;
	case KIND_LIMIT_RANGE:
		range_gone(w, c->ns, c->name);
		return;
	case KIND_QUOTA:
		quotas_gone(w, c->ns, c->name);
		return;
	case KIND_SLICE:
		slices_gone(w, c->name);
		return;
	case KIND_STATE:
		states_gone(w, c->name);
		return;
	case KIND_CLAIM: /* that one is missing is a state of it */
		return;
	case KIND_POD:
	case KIND_RECOMMENDATION:
	case KIND_GROUP:
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
	case KIND_POD_GROUP:
	case KIND_COUNT:
		break;
	}
	BUG("not an object of this file");
}

void objects_keep(struct world *w, const struct change *c)
{
	uint32_t mark = w->sync[c->kind].mark;
	uint32_t at = MAP_NONE;
	size_t i = 0;
	switch (c->kind) {
	case KIND_NODE:
		at = map_find(&w->nodes_by_name, key_text(c->name), c->name);
		if (at != MAP_NONE) {
			w->nodes.items[at]->mark = mark;
		}
		return;
	case KIND_POLICY:
		i = policy_index(w, c->name);
		if (i < w->policies.count) {
			w->policies.items[i]->mark = mark;
		}
		return;
	case KIND_NAMESPACE:
		at = map_find(&w->namespaces_by_name, key_text(c->name), c->name);
		if (at != MAP_NONE) {
			w->namespaces.items[at]->mark = mark;
		}
		return;
	case KIND_LIMIT_RANGE:
		for (i = 0; i < w->ranges.count; i++) {
			struct range_key *r = &w->ranges.items[i];
			if (text_equals(r->ns, c->ns) && text_equals(r->name, c->name)) {
				r->mark = mark;
			}
		}
		return;
	case KIND_SLICE:
		slices_keep(w, c->name);
		return;
	case KIND_QUOTA:
		quotas_keep(w, c->ns, c->name);
		return;
	case KIND_CLAIM:
	case KIND_STATE:
		return;
	case KIND_POD:
	case KIND_RECOMMENDATION:
	case KIND_GROUP:
	case KIND_SCALER:
	case KIND_SCALED_OBJECT:
	case KIND_BUDGET:
	case KIND_POD_GROUP:
	case KIND_COUNT:
		break;
	}
	BUG("not an object of this file");
}

void objects_sweep(struct world *w, enum kind kind, uint32_t mark)
{
	for (size_t i = 0; kind == KIND_NODE && i < w->nodes.count; i++) {
		if (w->nodes.items[i]->mark != mark) {
			node_gone(w, w->nodes.items[i]->name);
		}
	}
	if (kind == KIND_SLICE) {
		slices_sweep(w, mark);
	}
	if (kind == KIND_QUOTA) {
		quotas_sweep(w, mark);
	}
	for (size_t i = w->policies.count; kind == KIND_POLICY && i-- > 0;) {
		if (w->policies.items[i]->mark != mark) {
			policy_remove(w, i);
		}
	}
	for (size_t i = 0; kind == KIND_NAMESPACE && i < w->namespaces.count; i++) {
		if (w->namespaces.items[i]->mark != mark) {
			w->namespaces.items[i]->known = false;
		}
	}
	for (size_t i = w->ranges.count; kind == KIND_LIMIT_RANGE && i-- > 0;) {
		if (w->ranges.items[i].mark != mark) {
			range_remove(w, i);
		}
	}
	w->version++;
	w->policy_version++;
}

void objects_finish(struct world *w)
{
	for (size_t i = 0; i < w->nodes.count; i++) {
		arena_finish(&w->nodes.items[i]->arena);
		uses_finish(&w->nodes.items[i]->uses);
		VEC_FINISH(&w->nodes.items[i]->tenants);
		states_drop(w->nodes.items[i]);
		free(w->nodes.items[i]);
	}
	for (size_t i = 0; i < w->policies.count; i++) {
		arena_finish(&w->policies.items[i]->arena);
		free(w->policies.items[i]);
	}
	for (size_t i = 0; i < w->namespaces.count; i++) {
		arena_finish(&w->namespaces.items[i]->arena);
		VEC_FINISH(&w->namespaces.items[i]->quotas);
		free(w->namespaces.items[i]);
	}
	VEC_FINISH(&w->nodes);
	VEC_FINISH(&w->policies);
	VEC_FINISH(&w->policy_views);
	VEC_FINISH(&w->namespaces);
	VEC_FINISH(&w->ranges);
	map_finish(&w->nodes_by_name);
	map_finish(&w->namespaces_by_name);
}

const struct policy *const *world_policies(const struct world *w, uint32_t *ret_count)
{
	*ret_count = (uint32_t)w->policy_views.count;
	return w->policy_views.items;
}

const struct policy *world_policy_find(const struct world *w, const char *name)
{
	size_t i = policy_index(w, name);
	return i < w->policies.count ? &w->policies.items[i]->noun : NULL;
}
