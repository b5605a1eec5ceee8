/* Scopes, their generators, and the list of what happened. */
#include "dice.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "sim_parts.h"

static bool count_same(const void *owner, uint32_t slot, const void *key)
{
	const struct dice_counts *c = owner;
	return c->rows.items[slot].key == *(const uint64_t *)key;
}

void dice_init(struct sim *s)
{
	rng_seed(&s->rng, s->config.seed);
	map_init(&s->dice_counts.by_key, count_same, &s->dice_counts);
}

void dice_finish(struct sim *s)
{
	map_finish(&s->dice_counts.by_key);
	VEC_FINISH(&s->dice_counts.rows);
}

static uint64_t dice_mix(uint64_t a, uint64_t b)
{
	return hash_bytes(&b, sizeof b, a);
}

uint64_t dice_key(const char *kind, const char *text, uint64_t number)
{
	uint64_t key = hash_bytes(kind, strlen(kind), number);
	return text != NULL ? hash_bytes(text, strlen(text), key) : key;
}

uint64_t dice_next(struct sim *s, const char *kind, const char *text, uint64_t number)
{
	struct dice_counts *c = &s->dice_counts;
	uint64_t key = dice_key(kind, text, number);
	uint32_t at = map_find(&c->by_key, key, &key);
	if (at == MAP_NONE) {
		struct dice_count made = {.key = key};
		VEC_PUSH(&c->rows, made);
		at = (uint32_t)c->rows.count - 1;
		map_put(&c->by_key, key, at);
	}
	return dice_mix(key, ++c->rows.items[at].times);
}

struct dice dice_enter(struct sim *s, uint64_t scope)
{
	struct dice back = {s->rng, s->scope};
	s->scope = scope;
	rng_seed(&s->rng, dice_mix(s->config.seed, scope));
	return back;
}

void dice_leave(struct sim *s, struct dice back)
{
	s->rng = back.rng;
	s->scope = back.scope;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static bool may_happen(const struct sim *s, uint64_t id)
{
	const struct sim_only *only = s->config.only;
	return only == NULL || bsearch(&id, only->ids, only->count, sizeof id, by_id) != NULL;
}

bool dice_falls(struct sim *s, const char *kind, uint32_t per_mille)
{
	uint64_t id = dice_mix(s->scope, dice_key(kind, NULL, 0));
	if (per_mille == 0) {
		return false;
	}
	rng_seed(&s->rng, dice_mix(s->config.seed, id));
	if (!sim_chance(s, per_mille) || !may_happen(s, id)) {
		return false;
	}
	struct sim_log *log = s->config.log;
	if (log != NULL) {
		struct sim_entry entry = {.id = id, .at_ms = sim_now(s), .kind = kind};
		VEC_PUSH(log, entry);
	}
	return true;
}

void dice_say(struct sim *s, const char *format, ...)
{
	va_list args;
	struct sim_log *log = s->config.log;
	if (log != NULL && log->count > 0) {
		struct sim_entry *e = &log->items[log->count - 1];
		va_start(args, format);
		vsnprintf(e->what, sizeof e->what, format, args);
		va_end(args);
	}
}

bool sim_chance(struct sim *s, uint32_t per_mille)
{
	return per_mille > 0 && rng_below(&s->rng, 1000) < per_mille;
}

int64_t sim_between(struct sim *s, int64_t least, int64_t most)
{
	return most <= least ? least
			     : least + (int64_t)rng_below(&s->rng, (uint64_t)(most - least + 1));
}
