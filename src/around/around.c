/* A table a kind, each in step with its watch, and chains through all of them by what an object is
 * about: a scaler's target, a budget's namespace. */
#include "around/around.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/mirror.h"
#include "record/tables.h"

struct around_zone {
	char name[ZONE_NAME_MAX + 1];
	struct zone zone;
};

#define CHAINS 1024 /* a power of two */

/* A copy is small, and a block of 4 KiB each would be mostly empty. */
#define BLOCK_BYTES 256

/* One object that acts on a workload's pods: a scaler of either kind, or a budget. */
struct around_item {
	struct table_row row;
	struct around_item *next_placed; /* in its chain */
	struct arena arena;		 /* of its texts */
	enum kind kind;
	struct scaler scaler;
	const char *gpu_metric; /* NULL: none of its metrics is of a GPU */
	struct budget budget;
};

struct watched {
	struct table items; /* struct around_item */
	uint64_t unkept;
	bool complete, relisting, stale, missed, missed_now;
};

struct around {
	struct around_item *placed[CHAINS];
	struct watched scalers, scaled_objects, budgets;
	size_t bytes;
	VEC_OF(struct around_zone) zones;
};

static struct watched *watched_of(struct around *a, enum kind kind)
{
	return kind == KIND_BUDGET   ? &a->budgets
	       : kind == KIND_SCALER ? &a->scalers
				     : &a->scaled_objects;
}

static const struct watched *watched_in(const struct around *a, enum kind kind)
{
	return watched_of((struct around *)(uintptr_t)a, kind);
}

bool around_knows(const struct around *a, enum kind kind)
{
	const struct watched *w = watched_in(a, kind);
	return w->complete && !w->stale && !w->missed;
}

/* --- what is kept of an object --- */

static void item_destroy(struct around_item *i)
{
	arena_finish(&i->arena);
	free(i);
}

/* NULL: it would take more than AROUND_TEXT_MAX. */
static struct around_item *item_create(const struct change *c)
{
	if (c->kind != KIND_BUDGET && c->scaler->metric_count > SCALER_METRICS_MAX) {
		return NULL;
	}
	struct around_item *i = xcalloc(1, sizeof *i);
	i->kind = c->kind;
	i->arena.block_bytes = BLOCK_BYTES;
	if (c->kind == KIND_BUDGET) {
		record_copy(&i->arena, &budget_table, c->budget, &i->budget);
		i->row.ns = i->budget.ns;
		i->row.name = i->budget.name;
	} else {
		record_copy(&i->arena, &scaler_table, c->scaler, &i->scaler);
		i->row.ns = i->scaler.target.ns;
		i->row.name = i->scaler.name;
		i->gpu_metric = scaler_gpu_metric(&i->scaler);
	}
	if (i->arena.used_bytes > AROUND_TEXT_MAX) {
		item_destroy(i);
		return NULL;
	}
	return i;
}

static struct around_item **chain_of(struct around *a, const struct around_item *i)
{
	uint64_t hash = i->kind == KIND_BUDGET ? hash_text(i->row.ns)
					       : workload_key_hash(&i->scaler.target);
	return &a->placed[hash % CHAINS];
}

static void item_add(struct around *a, struct around_item *i)
{
	struct around_item **placed = chain_of(a, i);
	i->next_placed = *placed;
	*placed = i;
	a->bytes += sizeof *i + i->arena.used_bytes;
	table_add(&watched_of(a, i->kind)->items, &i->row);
}

static void item_drop(void *data, struct table_row *row)
{
	struct around *a = data;
	struct around_item *i = (struct around_item *)(void *)row;
	struct around_item **placed = chain_of(a, i);
	while (*placed != i) {
		placed = &(*placed)->next_placed;
	}
	*placed = i->next_placed;
	a->bytes -= sizeof *i + i->arena.used_bytes;
	item_destroy(i);
}

struct around *around_create(void)
{
	struct around *a = xcalloc(1, sizeof *a);
	table_init(&a->scalers.items, item_drop, a);
	table_init(&a->scaled_objects.items, item_drop, a);
	table_init(&a->budgets.items, item_drop, a);
	return a;
}

void around_destroy(struct around *a)
{
	if (a != NULL) {
		table_finish(&a->scalers.items);
		table_finish(&a->scaled_objects.items);
		table_finish(&a->budgets.items);
		VEC_FINISH(&a->zones);
	}
	free(a);
}

/* --- what the watches say --- */

static bool watched_set(struct around *a, const struct change *c)
{
	struct watched *w = watched_of(a, c->kind);
	uint32_t most = c->kind == KIND_BUDGET ? AROUND_BUDGETS_MAX : AROUND_SCALERS_MAX;
	struct around_item *made = item_create(c);
	if (made == NULL) {
		w->unkept++;
		return false;
	}
	struct table_row *old = table_find(&w->items, made->row.ns, made->row.name);
	if (old != NULL) {
		table_remove(&w->items, old);
	} else if (w->items.rows.count >= most || a->bytes > AROUND_BYTES_MAX) {
		item_destroy(made);
		w->unkept++;
		return false;
	}
	item_add(a, made);
	return true;
}

bool around_apply(struct around *a, const struct change *c)
{
	struct watched *w = watched_of(a, c->kind);
	ENSURE(c->kind == KIND_SCALER || c->kind == KIND_SCALED_OBJECT || c->kind == KIND_BUDGET);
	if (c->type == CHANGE_SET) {
		return watched_set(a, c);
	}
	if (c->type == CHANGE_RELIST_BEGIN) {
		w->relisting = true;
		w->missed_now = false;
	} else if (c->type == CHANGE_RELIST_END) {
		if (!w->relisting) {
			return true;
		}
		w->relisting = w->stale = false;
		w->complete = true;
		w->missed = w->missed_now;
	} else if (c->type == CHANGE_STALE || c->type == CHANGE_FRESH) {
		w->stale = c->type == CHANGE_STALE;
	} else if (c->type == CHANGE_KEEP &&
		   (c->name == NULL ||
			   table_find(&w->items, text_or(c->ns, ""), c->name) == NULL)) {
		/* It cannot be read, and nothing was known of it: then not all is known. */
		w->missed = w->missed_now = true;
	}
	mirror_follow(&w->items, c);
	return true;
}

/* --- lookups --- */

/* The first by name of those of that target: who tells how many there are before the others, or of
 * those alone that scale on a GPU. NULL: there is none. */
static const struct around_item *first_scaler(
	const struct around *a, const struct workload_key *target, bool on_gpu)
{
	const struct around_item *found = NULL;
	const struct around_item *i = a->placed[workload_key_hash(target) % CHAINS];
	for (; i != NULL; i = i->next_placed) {
		if (i->kind == KIND_BUDGET || !workload_key_equals(&i->scaler.target, target) ||
			(on_gpu && i->gpu_metric == NULL)) {
			continue;
		}
		bool better = found == NULL ||
			      (!on_gpu && i->kind != found->kind
					      ? i->kind == KIND_SCALER
					      : strcmp(i->row.name, found->row.name) < 0);
		found = better ? i : found;
	}
	return found;
}

const struct scaler *around_scaler(const struct around *a, const struct workload_key *target)
{
	const struct around_item *found = first_scaler(a, target, false);
	return found != NULL ? &found->scaler : NULL;
}

const struct scaler *around_gpu_scaler(
	const struct around *a, const struct workload_key *target, const char **ret_metric)
{
	const struct around_item *found = first_scaler(a, target, true);
	*ret_metric = found != NULL ? found->gpu_metric : NULL;
	return found != NULL ? &found->scaler : NULL;
}

/* A budget without a selector is of no pod. */
static bool budget_covers(const struct around_item *i, const char *ns, const struct pairs *labels)
{
	return i->kind == KIND_BUDGET && text_equals(i->row.ns, ns) && i->budget.selector.present &&
	       selector_matches(&i->budget.selector, labels);
}

struct roll_budget around_budget(
	const struct around *a, const char *ns, const struct pairs *labels, struct arena *arena)
{
	const struct around_item *first = NULL, *second = NULL; /* by name */
	bool known = around_knows(a, KIND_BUDGET);
	const struct around_item *i = known ? a->placed[hash_text(ns) % CHAINS] : NULL;
	for (; i != NULL; i = i->next_placed) {
		if (!budget_covers(i, ns, labels)) {
			continue;
		}
		if (first == NULL || strcmp(i->row.name, first->row.name) < 0) {
			second = first;
			first = i;
		} else if (second == NULL || strcmp(i->row.name, second->row.name) < 0) {
			second = i;
		}
	}
	if (first == NULL) {
		return (struct roll_budget){.known = false};
	}
	if (second == NULL) {
		return (struct roll_budget){
			true, arena_strdup(arena, first->row.name), first->budget.allowed};
	}
	return (struct roll_budget){true,
		arena_printf(arena, "%s (or %s: the API server evicts no pod that two select)",
			first->row.name, second->row.name),
		0};
}

struct around_kind around_of(const struct around *a, enum kind kind)
{
	const struct watched *w = watched_in(a, kind);
	return (struct around_kind){
		(uint32_t)w->items.rows.count, around_knows(a, kind), w->unkept};
}

void around_sum(const struct around *a, struct around_totals *ret)
{
	*ret = (struct around_totals){.scalers = (uint32_t)(a->scalers.items.rows.count +
							    a->scaled_objects.items.rows.count),
		.budgets = (uint32_t)a->budgets.items.rows.count,
		.bytes = sizeof *a + a->bytes};
}

/* --- time zones --- */

static struct around_zone *zone_slot(const struct around *a, const char *name)
{
	for (size_t i = 0; i < a->zones.count; i++) {
		if (text_equals(a->zones.items[i].name, name)) {
			return &a->zones.items[i];
		}
	}
	return NULL;
}

const struct zone *around_zone(const struct around *a, const char *name)
{
	const struct around_zone *z = zone_slot(a, name);
	return z != NULL ? &z->zone : NULL;
}

bool around_zone_set(struct around *a, const char *name, const struct zone *zone)
{
	struct around_zone *z = zone_slot(a, name);
	if (zone == NULL) {
		if (z != NULL) {
			VEC_REMOVE_SWAP(&a->zones, (size_t)(z - a->zones.items));
		}
		return true;
	}
	if (z != NULL) {
		z->zone = *zone;
		return true;
	}
	if (a->zones.count >= AROUND_ZONES_MAX || strlen(name) > ZONE_NAME_MAX) {
		return false;
	}
	struct around_zone fresh = {.zone = *zone};
	memcpy(fresh.name, name, strlen(name));
	VEC_PUSH(&a->zones, fresh);
	return true;
}
