/* Nodes, policies, namespaces and limit ranges: few and read often, so each keeps its decoded
 * object in a small arena of its own. */
#include "objects.h"

#include <stdlib.h>

#include "claims.h"
#include "model/mirror.h"
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

static void policies_changed(struct world *w)
{
	w->version++;
	w->policies_version++;
	w->policy_version++;
}

static void policy_set(struct world *w, const struct policy *noun)
{
	struct table_row *known = table_find(&w->policies, "", noun->name);
	struct world_policy *p = (struct world_policy *)(void *)known;
	if (known == NULL) {
		p = xcalloc(1, sizeof *p);
		VEC_PUSH(&w->policy_views, &p->noun);
	}
	noun_copy(&p->arena, &policy_table, noun, &p->noun);
	p->row.ns = "";
	p->row.name = p->noun.name;
	p->row.mark = w->policies.mark;
	if (known == NULL) {
		table_add(&w->policies, &p->row);
	}
	policies_changed(w);
}

static void policy_drop(void *data, struct table_row *row)
{
	struct world *w = data;
	struct world_policy *p = (struct world_policy *)(void *)row;
	VEC_REMOVE_SWAP(&w->policy_views, row->at);
	arena_finish(&p->arena);
	free(p);
	policies_changed(w);
}

static void namespace_set(struct world *w, const struct change *c)
{
	struct world_namespace *n = namespace_touch(w, c->namespace->name);
	noun_copy(&n->arena, &namespace_table, c->namespace, &n->noun);
	n->row.name = n->noun.name;
	n->row.mark = w->namespaces.mark;
	n->known = true;
	w->version++;
	w->policy_version++;
}

static void range_drop(void *data, struct table_row *row)
{
	struct world *w = data;
	namespace_touch(w, row->ns)->gpu_limits--;
	intern_release(w->words, row->ns);
	intern_release(w->words, row->name);
	free(row);
}

static void range_set(struct world *w, const struct limit_range *l)
{
	struct table_row *old = table_find(&w->ranges, l->ns, l->name);
	if (old != NULL) {
		table_remove(&w->ranges, old);
	}
	if (!l->limits_gpus) {
		return;
	}
	struct table_row *made = xcalloc(1, sizeof *made);
	made->ns = intern_add(w->words, l->ns);
	made->name = intern_add(w->words, l->name);
	table_add(&w->ranges, made);
	namespace_touch(w, l->ns)->gpu_limits++;
}

void objects_init(struct world *w)
{
	map_init(&w->nodes_by_name, node_name_same, w);
	table_init(&w->policies, policy_drop, w);
	table_init(&w->ranges, range_drop, w);
}

void objects_set(struct world *w, const struct change *c)
{
	switch (c->kind) {
	case KIND_NODE:
		node_set(w, c);
		return;
	case KIND_POLICY:
		policy_set(w, c->policy);
		return;
	case KIND_NAMESPACE:
		namespace_set(w, c);
		return;
	case KIND_LIMIT_RANGE:
		range_set(w, c->limit_range);
		return;
	case KIND_QUOTA:
		quotas_set(w, c->quota);
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
	struct table *t = table_of(w, c->kind);
	if (t != NULL) {
		mirror_follow(t, c);
	} else if (c->kind == KIND_NODE) {
		node_gone(w, c->name);
	} else if (c->kind == KIND_STATE) {
		states_gone(w, c->name);
	} else if (c->kind == KIND_NAMESPACE) {
		struct table_row *row = table_find(&w->namespaces, "", c->name);
		if (row != NULL) {
			((struct world_namespace *)(void *)row)->known = false;
		}
		w->version++;
		w->policy_version++;
	}
	/* That a claim is missing is a state of it. */
}

void objects_keep(struct world *w, const struct change *c)
{
	struct table *t = table_of(w, c->kind);
	if (t != NULL) {
		mirror_follow(t, c);
	} else if (c->kind == KIND_NODE) {
		uint32_t at = world_node_find(w, c->name);
		if (at != WORLD_NONE) {
			w->nodes.items[at]->mark = w->sync[KIND_NODE].mark;
		}
	} else if (c->kind == KIND_NAMESPACE) {
		struct table_row *row = table_find(&w->namespaces, "", c->name);
		if (row != NULL) {
			row->mark = w->namespaces.mark;
		}
	}
}

void objects_sweep(struct world *w, enum kind kind, uint32_t mark)
{
	struct table *t = table_of(w, kind);
	if (t != NULL) {
		table_sweep(t);
	}
	for (size_t i = 0; kind == KIND_NODE && i < w->nodes.count; i++) {
		if (w->nodes.items[i]->mark != mark) {
			node_gone(w, w->nodes.items[i]->name);
		}
	}
	for (size_t i = 0; kind == KIND_NAMESPACE && i < w->namespaces.rows.count; i++) {
		struct table_row *row = w->namespaces.rows.items[i];
		if (row->mark != mark) {
			((struct world_namespace *)(void *)row)->known = false;
		}
	}
	w->version++;
	w->policy_version++;
}

/* What the tables drop is taken off nodes and namespaces, so they go first. */
void objects_finish(struct world *w)
{
	table_finish(&w->policies);
	VEC_FINISH(&w->policy_views);
	table_finish(&w->ranges);
	table_finish(&w->quotas);
	table_finish(&w->slices);
	table_finish(&w->namespaces);
	for (size_t i = 0; i < w->nodes.count; i++) {
		arena_finish(&w->nodes.items[i]->arena);
		uses_finish(&w->nodes.items[i]->uses);
		VEC_FINISH(&w->nodes.items[i]->tenants);
		states_drop(w->nodes.items[i]);
		free(w->nodes.items[i]);
	}
	VEC_FINISH(&w->nodes);
	map_finish(&w->nodes_by_name);
}

const struct policy *const *world_policies(const struct world *w, uint32_t *ret_count)
{
	*ret_count = (uint32_t)w->policy_views.count;
	return w->policy_views.items;
}

const struct policy *world_policy_find(const struct world *w, const char *name)
{
	const struct table_row *row = table_find(&w->policies, "", name);
	return row != NULL ? &((const struct world_policy *)(const void *)row)->noun : NULL;
}
