/* A table by kind and name; a place that became free is given out again. */
#include "tracking/bill_groups.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"

#define GROUPS_MOST 4096

struct group_key {
	uint8_t by;
	const char *name;
};

static bool group_is_named(const void *owner, uint32_t slot, const void *key)
{
	const struct bill_groups *g = owner;
	const struct group_key *k = key;
	return g->list.items[slot].by == k->by && text_equals(g->list.items[slot].name, k->name);
}

void bill_groups_init(struct bill_groups *g)
{
	map_init(&g->by_name, group_is_named, g);
}

void bill_groups_finish(struct bill_groups *g)
{
	vec_for_each (struct bill_group, one, &g->list) {
		free(one->name);
	}
	VEC_FINISH(&g->list);
	map_finish(&g->by_name);
}

static uint64_t group_hash(uint8_t by, const char *name)
{
	return hash_bytes(&by, 1, hash_text(name));
}

/* BILL_NO_GROUP: there are too many. */
static uint32_t take_free_group(struct bill_groups *g)
{
	static const struct bill_group none = {.name = NULL};
	if (g->unused > 0) {
		uint32_t at = g->unused - 1;
		g->unused = g->list.items[at].next;
		return at;
	}
	if (g->list.count >= GROUPS_MOST) {
		return BILL_NO_GROUP;
	}
	VEC_PUSH(&g->list, none);
	return (uint32_t)g->list.count - 1;
}

uint32_t bill_groups_at(struct bill_groups *g, enum bill_by by, const char *name)
{
	struct group_key key = {(uint8_t)by, name};
	if (text_empty(name)) {
		return BILL_NO_GROUP;
	}
	uint64_t hash = group_hash(key.by, name);
	uint32_t at = map_find(&g->by_name, hash, &key);
	if (at == MAP_NONE) {
		at = take_free_group(g);
		if (at == BILL_NO_GROUP) {
			return at;
		}
		g->list.items[at] = (struct bill_group){.name = xstrdup(name), .by = key.by};
		map_put(&g->by_name, hash, at);
	}
	g->list.items[at].turn = g->turn;
	return at;
}

void bill_groups_keep(struct bill_groups *g, uint32_t at)
{
	if (at != BILL_NO_GROUP) {
		g->list.items[at].turn = g->turn;
	}
}

void bill_groups_forget(struct bill_groups *g)
{
	for (uint32_t at = 0; at < g->list.count; at++) {
		struct bill_group *one = &g->list.items[at];
		if (one->name == NULL || one->turn == g->turn) {
			continue;
		}
		map_remove(&g->by_name, group_hash(one->by, one->name), at);
		free(one->name);
		*one = (struct bill_group){.next = g->unused};
		g->unused = at + 1;
	}
}

static uint32_t group_of_label(
	struct bill_groups *g, enum bill_by by, const struct pairs *labels, const char *label)
{
	return label != NULL ? bill_groups_at(g, by, pairs_get(labels, label)) : BILL_NO_GROUP;
}

void bill_groups_label(struct bill_groups *g, const struct bill_config *config,
	const struct pairs *labels, struct bill_pod *ret)
{
	ret->team = group_of_label(g, BILL_TEAM, labels, config->team_label);
	ret->model = group_of_label(g, BILL_MODEL, labels, config->model_label);
}
