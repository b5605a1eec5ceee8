/* Records are found by their names; the first series of one makes it. */
#include "gather.h"

#include "base/clock.h"
#include "base/str.h"

#define SAME_TIME_MS 5000

static uint64_t metered_hash(const struct metered *m)
{
	return hash_bytes(m->uuid, strlen(m->uuid) + 1,
		hash_bytes(m->container, strlen(m->container) + 1, hash_pair(m->ns, m->pod)));
}

static bool gathered_is(const void *owner, uint32_t slot, const void *key)
{
	const struct gather *g = owner;
	const struct metered *a = &g->items[slot].m, *b = key;
	return strcmp(a->pod, b->pod) == 0 && strcmp(a->ns, b->ns) == 0 &&
	       strcmp(a->container, b->container) == 0 && strcmp(a->uuid, b->uuid) == 0;
}

/* Does what is told now count more than what was told before? */
static bool counts_more(int64_t value, int64_t at, int64_t before, int64_t before_at)
{
	if (before == METERED_ABSENT || at > before_at + SAME_TIME_MS) {
		return true;
	}
	return at >= before_at - SAME_TIME_MS && value > before;
}

static void gathered_merge(struct gather *g, struct gathered *to, const struct metered *m)
{
	if (m->compute != METERED_ABSENT &&
		counts_more(m->compute, m->at_ms, to->m.compute, to->compute_at)) {
		to->m.compute = m->compute;
		to->compute_at = m->at_ms;
		/* What makes it an estimate is told at this series. */
		to->m.estimated = m->estimated;
		to->m.basis = arena_strdup(&g->arena, m->basis);
	}
	if (m->mem_bytes != METERED_ABSENT &&
		counts_more(m->mem_bytes, m->at_ms, to->m.mem_bytes, to->mem_at)) {
		to->m.mem_bytes = m->mem_bytes;
		to->mem_at = m->at_ms;
	}
	to->m.at_ms = time_min(to->compute_at, to->mem_at);
}

static void gathered_add(struct gather *g, const struct metered *m)
{
	struct gathered item = {.m = *m, .compute_at = TIME_NEVER, .mem_at = TIME_NEVER};
	item.m.ns = arena_strdup(&g->arena, m->ns);
	item.m.pod = arena_strdup(&g->arena, m->pod);
	item.m.uid = arena_strdup(&g->arena, m->uid);
	item.m.container = arena_strdup(&g->arena, m->container);
	item.m.uuid = arena_strdup(&g->arena, m->uuid);
	item.m.basis = NULL;
	item.m.estimated = false;
	item.m.compute = item.m.mem_bytes = METERED_ABSENT;
	VEC_PUSH(g, item);
	map_put(&g->index, metered_hash(m), (uint32_t)g->count - 1);
	gathered_merge(g, &g->items[g->count - 1], m);
}

bool gather_take(struct gather *g, const struct metered *m)
{
	uint32_t at = map_find(&g->index, metered_hash(m), m);
	if (at != MAP_NONE) {
		gathered_merge(g, &g->items[at], m);
		return true;
	}
	if (g->count == GATHER_MAX) {
		return false;
	}
	gathered_add(g, m);
	return true;
}

void gather_init(struct gather *g)
{
	map_init(&g->index, gathered_is, g);
}

void gather_reset(struct gather *g)
{
	VEC_CLEAR(g);
	map_clear(&g->index);
	arena_reset(&g->arena);
}

void gather_finish(struct gather *g)
{
	VEC_FINISH(g);
	map_finish(&g->index);
	arena_finish(&g->arena);
}
