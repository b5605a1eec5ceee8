/* The domains of a topology spread, as the scheduler counts them: the values of a label among the
 * nodes that the pod selects as its owner wrote it, whether they have GPUs or not. Once a pod is
 * pinned to a node the scheduler counts that node alone, and any spread is fine with it; so this is
 * the only place where it is judged.
 *
 * Replicas ask the same, so what was worked out is kept for the step. */
#include "demand/zoning.h"

#include "demand/needs.h"
#include "ledger/ledger.h"
#include "record/tables.h"

#define KEY_MAX ((size_t)1 << 20)

/* Everything that node_counts() and the values depend on. */
static void put_question(
	struct str *out, const struct pod *pod, const struct neighbour_term *spread)
{
	pack_text(out, spread->key);
	for (uint32_t i = 0; i < pod->neighbour_count; i++) {
		const struct neighbour_term *t = &pod->neighbours[i];
		if (t->kind == NEIGHBOUR_SPREAD) {
			pack_u64(out, 1);
			pack_text(out, t->key);
		}
	}
	pack_u64(out, (spread->any_node ? 2 : 0) | (spread->heeds_taints ? 4 : 0));
	if (!spread->any_node) {
		record_pack(out, &pod_selection_table, pod);
	}
	if (spread->heeds_taints) {
		record_pack(out, &pod_tolerations_table, pod);
	}
}

const char *zoning_value(const struct node *n, const char *key)
{
	return key == NULL ? n->name : pairs_get(&n->labels, key);
}

/* Only nodes that have the labels of all its spreads do. */
static bool node_counts(
	const struct pod *pod, const struct neighbour_term *spread, const struct node *n)
{
	for (uint32_t i = 0; i < pod->neighbour_count; i++) {
		const struct neighbour_term *t = &pod->neighbours[i];
		if (t->kind == NEIGHBOUR_SPREAD && zoning_value(n, t->key) == NULL) {
			return false;
		}
	}
	return (spread->any_node || place_node_selected(pod, n)) &&
	       (!spread->heeds_taints || place_node_tolerated(pod, n));
}

static bool value_same(const void *owner, uint32_t slot, const void *key)
{
	const struct needs *n = owner;
	return strcmp(n->values.items[slot], key) == 0;
}

static uint32_t number_of(struct needs *needs, struct map *by_value, const char *value)
{
	uint64_t hash = hash_text(value);
	uint32_t at = map_find(by_value, hash, value);
	if (at == MAP_NONE) {
		at = (uint32_t)needs->values.count;
		VEC_PUSH(&needs->values, value);
		map_put(by_value, hash, at);
	}
	return at;
}

static void number_nodes(struct needs *needs, struct zoning *z, const struct pod *pod,
	const struct neighbour_term *spread)
{
	struct picture *picture = needs->picture;
	struct map by_value;
	map_init(&by_value, value_same, needs);
	VEC_CLEAR(&needs->values);
	VEC_CLEAR(&z->of);
	for (uint32_t i = 0; i < world_node_slots(picture->world); i++) {
		const struct world_node *n = world_node_at(picture->world, i);
		uint32_t number = WORLD_NONE;
		if (n->known && node_counts(pod, spread, &n->noun)) {
			const char *value = zoning_value(&n->noun, spread->key);
			number = number_of(needs, &by_value, value);
		}
		VEC_PUSH(&z->of, number);
	}
	z->count = (uint32_t)needs->values.count;
	z->step = picture->time->step;
	picture->looked_at += z->of.count;
	map_finish(&by_value);
}

const struct zoning *zoning_of(
	struct needs *needs, const struct pod *pod, const struct neighbour_term *spread)
{
	CLEANUP(str_finish) struct str key = STR_INIT(KEY_MAX);
	put_question(&key, pod, spread);
	for (size_t i = 0; i < ZONINGS_MAX && !key.overflow; i++) {
		const struct zoning *z = &needs->zonings[i];
		if (z->step == needs->picture->time->step && z->key.len == key.len &&
			memcmp(str_text(&z->key), str_text(&key), key.len) == 0) {
			return z;
		}
	}
	struct zoning *z = &needs->zonings[needs->next_zoning];
	needs->next_zoning = (needs->next_zoning + 1) % ZONINGS_MAX;
	str_finish(&z->key);
	z->key = (struct str)STR_INIT(KEY_MAX);
	str_append(&z->key, str_text(&key), key.len);
	number_nodes(needs, z, pod, spread);
	/* One that is cut off is like no other. */
	z->step = key.overflow ? 0 : z->step;
	return z;
}

void zonings_finish(struct needs *n)
{
	for (size_t i = 0; i < ZONINGS_MAX; i++) {
		str_finish(&n->zonings[i].key);
		VEC_FINISH(&n->zonings[i].of);
	}
}
