/* GPUs that pods have, and how much of each all of them use together. */
#include "supply/gpu_load.h"

#include "base/str.h"
#include "model/metered.h"

/* More than a cluster has; what comes after them is not counted. */
#define GPUS_MAX 65536

static bool gpu_has_id(const void *owner, uint32_t slot, const void *key)
{
	const struct gpus *g = owner;
	const uint64_t *id = key;
	return g->list.items[slot].id == *id;
}

void gpus_init(struct gpus *g)
{
	map_init(&g->by_id, gpu_has_id, g);
}

void gpus_finish(struct gpus *g)
{
	VEC_FINISH(&g->list);
	map_finish(&g->by_id);
}

static uint32_t place(struct gpus *g)
{
	static const struct gpu none = {.id = 0};
	if (g->unused > 0) {
		uint32_t at = g->unused - 1;
		g->unused = g->list.items[at].first;
		return at;
	}
	if (g->list.count >= GPUS_MAX) {
		return UINT32_MAX;
	}
	VEC_PUSH(&g->list, none);
	return (uint32_t)g->list.count - 1;
}

uint32_t gpus_at(struct gpus *g, const char *uuid)
{
	if (text_empty(uuid)) {
		return UINT32_MAX;
	}
	const char *end = strchr(uuid, ',');
	uint64_t id = hash_bytes(uuid, end != NULL ? (size_t)(end - uuid) : strlen(uuid), 1);
	uint32_t at = map_find(&g->by_id, id, &id);
	if (at == MAP_NONE) {
		at = place(g);
		if (at == UINT32_MAX) {
			return UINT32_MAX;
		}
		g->list.items[at] = (struct gpu){.id = id, .first = UINT32_MAX};
		map_put(&g->by_id, id, at);
	}
	g->list.items[at].seen = g->turn;
	return at;
}

void gpus_keep(struct gpus *g, uint32_t at)
{
	if (at < g->list.count) {
		g->list.items[at].seen = g->turn;
	}
}

void gpus_hold(struct gpus *g, const struct gpu_identity *id, uint32_t node, uint32_t round)
{
	uint32_t at = gpus_at(g, id->uuid);
	if (at < g->list.count) {
		g->list.items[at].node = node;
		g->list.items[at].round = round;
		g->list.items[at].mem_mib = id->mem_mib;
	}
}

void gpus_add(struct gpus *g, uint32_t at, int64_t compute)
{
	if (at < g->list.count && compute > 0) {
		g->list.items[at].next += compute;
	}
}

void gpus_press(struct gpus *g, uint32_t at)
{
	if (at < g->list.count && g->list.items[at].pressing < UINT16_MAX) {
		g->list.items[at].pressing++;
	}
}

void gpus_crowd(struct gpus *g, uint32_t at, int64_t milli)
{
	struct gpu *x = at < g->list.count ? &g->list.items[at] : NULL;
	if (x != NULL && milli > 0 && milli <= UINT16_MAX &&
		(x->next_least == 0 || milli < x->next_least)) {
		x->next_least = (uint16_t)milli;
	}
}

/* The bill asks for some after the others were settled: those of the turn before are kept. */
void gpus_settle(struct gpus *g)
{
	for (uint32_t at = 0; at < g->list.count; at++) {
		struct gpu *x = &g->list.items[at];
		x->busy = x->next;
		x->next = 0;
		x->pressed = x->pressing;
		x->pressing = 0;
		x->least = x->next_least;
		x->next_least = 0;
		if (!x->gone && g->turn - x->seen > 1) {
			map_remove(&g->by_id, x->id, at);
			*x = (struct gpu){.gone = true, .first = g->unused};
			g->unused = at + 1;
		}
	}
	g->turn++;
}

int64_t gpus_busy(const struct gpus *g, uint32_t at)
{
	return at < g->list.count ? g->list.items[at].busy : METERED_ABSENT;
}

bool gpus_pressed(const struct gpus *g, uint32_t at)
{
	return at < g->list.count && g->list.items[at].pressed > 0;
}

int64_t gpus_least(const struct gpus *g, uint32_t at)
{
	return at < g->list.count ? g->list.items[at].least : 0;
}
