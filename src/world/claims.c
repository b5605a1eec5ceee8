/* PersistentVolumeClaims that tenants with our gate and pending pods name: one entry a claim, from
 * the first such pod to the last. Nothing is kept of any other. */
#include "claims.h"

#include <stdlib.h>

#include "nouns.h"
#include "record/tables.h"

static void claim_drop(void *data, struct table_row *row)
{
	struct world *w = data;
	struct world_claim *c = (struct world_claim *)(void *)row;
	arena_finish(&c->arena);
	intern_release(w->words, row->ns);
	intern_release(w->words, row->name);
	free(c);
}

void claims_init(struct world *w)
{
	table_init(&w->claims, claim_drop, w);
}

static struct world_claim *claim_touch(struct world *w, const char *ns, const char *name)
{
	struct table_row *known = table_find(&w->claims, ns, name);
	if (known != NULL) {
		return (struct world_claim *)(void *)known;
	}
	struct world_claim *c = xcalloc(1, sizeof *c);
	c->row.ns = intern_add(w->words, ns);
	c->row.name = intern_add(w->words, name);
	c->noun =
		(struct volume_claim){.ns = c->row.ns, .name = c->row.name, .state = CLAIM_UNREAD};
	table_add(&w->claims, &c->row);
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

void claims_trim(struct world *w)
{
	for (size_t i = w->claims.rows.count; i-- > 0 && w->claims_unused > 0;) {
		if (claim_at(w, i)->tenants == 0) {
			table_remove(&w->claims, w->claims.rows.items[i]);
			w->claims_unused--;
			w->claims_version++;
		}
	}
}

void claims_set(struct world *w, const struct change *change)
{
	struct table_row *row = table_find(&w->claims, change->claim->ns, change->claim->name);
	if (row != NULL) {
		struct world_claim *c = (struct world_claim *)(void *)row;
		noun_copy(&c->arena, &volume_claim_table, change->claim, &c->noun);
		w->version++;
	}
}

size_t world_claim_count(const struct world *w)
{
	return w->claims.rows.count;
}

const struct volume_claim *world_claim_at(const struct world *w, size_t i)
{
	return &claim_at(w, i)->noun;
}

const struct volume_claim *world_claim_find(const struct world *w, const char *ns, const char *name)
{
	const struct table_row *row = table_find(&w->claims, ns, name);
	return row == NULL ? NULL : &((const struct world_claim *)(const void *)row)->noun;
}

uint64_t world_claims_version(const struct world *w)
{
	return w->claims_version;
}
