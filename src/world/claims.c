/* PersistentVolumeClaims that tenants with our gate and pending pods name: one entry a claim, from
 * the first such pod to the last. Nothing is kept of any other. */
#include "claims.h"

#include <stdlib.h>

#include "nouns.h"
#include "record/tables.h"

struct claim_key {
	const char *ns;
	const char *name;
};

static bool claim_same(const void *owner, uint32_t slot, const void *key)
{
	const struct world *w = owner;
	const struct claim_key *k = key;
	const struct world_claim *c = w->claims.items[slot];
	return strcmp(c->noun.name, k->name) == 0 && strcmp(c->noun.ns, k->ns) == 0;
}

static uint32_t claim_slot(const struct world *w, const char *ns, const char *name)
{
	struct claim_key key = {ns, name};
	return map_find(&w->claims_by_name, key_pair(ns, name), &key);
}

void claims_init(struct world *w)
{
	map_init(&w->claims_by_name, claim_same, w);
}

/* What was known goes; the name stays. */
static void claim_forget(struct world_claim *c)
{
	arena_finish(&c->arena);
	c->noun = (struct volume_claim){.ns = c->ns, .name = c->name, .state = CLAIM_UNREAD};
}

static struct world_claim *claim_touch(struct world *w, const char *ns, const char *name)
{
	uint32_t slot = claim_slot(w, ns, name);
	if (slot != MAP_NONE) {
		return w->claims.items[slot];
	}
	struct world_claim *c = xcalloc(1, sizeof *c);
	c->ns = intern_add(w->words, ns);
	c->name = intern_add(w->words, name);
	claim_forget(c);
	VEC_PUSH(&w->claims, c);
	map_put(&w->claims_by_name, key_pair(ns, name), (uint32_t)w->claims.count - 1);
	w->claims_unused++;
	w->claims_version++;
	return c;
}

void claims_take(struct world *w, struct world_gpu *g, const struct pod *pod)
{
	g->claim_count = pod->claim_count;
	g->claims = pod->claim_count > 0 ? xcalloc(pod->claim_count, sizeof *g->claims) : NULL;
	for (uint32_t i = 0; i < pod->claim_count; i++) {
		struct world_claim *c = claim_touch(w, pod->ns, text_or(pod->claims[i], ""));
		w->claims_unused -= c->tenants == 0 ? 1 : 0;
		c->tenants++;
		g->claims[i] = c;
	}
}

void claims_leave(struct world *w, struct world_gpu *g)
{
	for (uint32_t i = 0; i < g->claim_count; i++) {
		struct world_claim *c = g->claims[i];
		c->tenants--;
		w->claims_unused += c->tenants == 0 ? 1 : 0;
	}
	free(g->claims);
	g->claims = NULL;
	g->claim_count = 0;
}

static void claim_free(struct world *w, struct world_claim *c)
{
	arena_finish(&c->arena);
	intern_release(w->words, c->ns);
	intern_release(w->words, c->name);
	free(c);
}

static void claim_remove(struct world *w, uint32_t slot)
{
	struct world_claim *c = w->claims.items[slot];
	struct world_claim *last = w->claims.items[w->claims.count - 1];
	uint64_t last_hash = key_pair(last->ns, last->name);
	map_remove(&w->claims_by_name, last_hash, (uint32_t)w->claims.count - 1);
	if (last != c) {
		map_remove(&w->claims_by_name, key_pair(c->ns, c->name), slot);
		map_put(&w->claims_by_name, last_hash, slot);
	}
	VEC_REMOVE_SWAP(&w->claims, slot);
	claim_free(w, c);
}

void claims_trim(struct world *w)
{
	for (uint32_t i = (uint32_t)w->claims.count; i-- > 0 && w->claims_unused > 0;) {
		if (w->claims.items[i]->tenants == 0) {
			claim_remove(w, i);
			w->claims_unused--;
			w->claims_version++;
		}
	}
}

void claims_set(struct world *w, const struct change *change)
{
	uint32_t slot = claim_slot(w, change->claim->ns, change->claim->name);
	if (slot == MAP_NONE) {
		return;
	}
	struct world_claim *c = w->claims.items[slot];
	noun_copy(&c->arena, &volume_claim_table, change->claim, &c->noun);
	w->version++;
}

void claims_finish(struct world *w)
{
	for (size_t i = 0; i < w->claims.count; i++) {
		claim_free(w, w->claims.items[i]);
	}
	VEC_FINISH(&w->claims);
	map_finish(&w->claims_by_name);
}

size_t world_claim_count(const struct world *w)
{
	return w->claims.count;
}

const struct volume_claim *world_claim_at(const struct world *w, size_t i)
{
	return &w->claims.items[i]->noun;
}

const struct volume_claim *world_claim_find(const struct world *w, const char *ns, const char *name)
{
	uint32_t slot = claim_slot(w, ns, name);
	return slot == MAP_NONE ? NULL : &w->claims.items[slot]->noun;
}

uint64_t world_claims_version(const struct world *w)
{
	return w->claims_version;
}

/* For world_check. */
bool claims_agree(const struct world *w)
{
	size_t named = 0, counted = 0;
	for (size_t i = 0; i < w->claims.count; i++) {
		const struct world_claim *c = w->claims.items[i];
		counted += c->tenants;
		if (c->tenants == 0 || claim_slot(w, c->ns, c->name) != i) {
			return false;
		}
	}
	for (size_t i = 0; i < w->pods.count; i++) {
		bool names = w->pods.items[i] != NULL && w->pods.items[i]->gpu != NULL;
		named += names ? w->pods.items[i]->gpu->claim_count : 0;
	}
	return named == counted && w->claims_unused == 0 &&
	       w->claims_by_name.count == w->claims.count;
}
