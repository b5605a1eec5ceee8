/* Two chains run through all that is kept: by its own name, and by what it is about (a scaler's
 * target, a budget's namespace). */
#include "around/around.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "item.h"

struct around_zone {
	char name[ZONE_NAME_MAX + 1];
	struct zone zone;
};

#define CHAINS 1024 /* a power of two */

struct watched {
	uint32_t mark, count;
	uint64_t unkept;
	bool complete, relisting, stale, missed, missed_now;
};

struct around {
	struct around_item *named[CHAINS]; /* owned */
	struct around_item *placed[CHAINS];
	struct watched scalers, scaled_objects, budgets;
	size_t bytes;
	struct {
		VEC_FIELDS(struct around_zone);
	} zones;
};

struct around *around_create(void)
{
	return xcalloc(1, sizeof(struct around));
}

void around_destroy(struct around *a)
{
	for (size_t i = 0; a != NULL && i < CHAINS; i++) {
		while (a->named[i] != NULL) {
			struct around_item *item = a->named[i];
			a->named[i] = item->next_named;
			around_item_destroy(item);
		}
	}
	if (a != NULL) {
		VEC_FINISH(&a->zones);
	}
	free(a);
}

static struct watched *watched_of(struct around *a, enum kind kind)
{
	return kind == KIND_BUDGET   ? &a->budgets
	       : kind == KIND_SCALER ? &a->scalers
				     : &a->scaled_objects;
}

static const struct watched *watched_in(const struct around *a, enum kind kind)
{
	return kind == KIND_BUDGET   ? &a->budgets
	       : kind == KIND_SCALER ? &a->scalers
				     : &a->scaled_objects;
}

bool around_knows(const struct around *a, enum kind kind)
{
	const struct watched *w = watched_in(a, kind);
	return w->complete && !w->stale && !w->missed;
}

/* --- the chains --- */

static struct around_item **named_chain(
	struct around *a, enum kind kind, const char *ns, const char *name)
{
	return &a->named[(hash_pair(ns, name) + (uint64_t)kind) % CHAINS];
}

static size_t target_chain(const struct around_item *i)
{
	return (i->kind == KIND_BUDGET ? hash_text(i->ns) : workload_key_hash(&i->scaler.target)) %
	       CHAINS;
}

static struct around_item **item_slot(
	struct around *a, enum kind kind, const char *ns, const char *name)
{
	struct around_item **slot = named_chain(a, kind, ns, name);
	while (*slot != NULL && ((*slot)->kind != kind || !text_equals((*slot)->ns, ns) ||
					!text_equals((*slot)->name, name))) {
		slot = &(*slot)->next_named;
	}
	return slot;
}

static void item_link(struct around *a, struct around_item *i)
{
	struct around_item **named = named_chain(a, i->kind, i->ns, i->name);
	struct around_item **placed = &a->placed[target_chain(i)];
	i->next_named = *named;
	*named = i;
	i->next_placed = *placed;
	*placed = i;
	watched_of(a, i->kind)->count++;
	a->bytes += sizeof *i + i->arena.used_bytes;
}

/* `slot` is where it hangs among the named. */
static void item_unlink(struct around *a, struct around_item **slot)
{
	struct around_item *i = *slot;
	struct around_item **placed = &a->placed[target_chain(i)];
	while (*placed != i) {
		placed = &(*placed)->next_placed;
	}
	*placed = i->next_placed;
	*slot = i->next_named;
	watched_of(a, i->kind)->count--;
	a->bytes -= sizeof *i + i->arena.used_bytes;
	around_item_destroy(i);
}

static void drop_unmarked(struct around *a, enum kind kind, uint32_t mark)
{
	for (size_t i = 0; i < CHAINS; i++) {
		struct around_item **slot = &a->named[i];
		while (*slot != NULL) {
			if ((*slot)->kind == kind && (*slot)->mark != mark) {
				item_unlink(a, slot);
			} else {
				slot = &(*slot)->next_named;
			}
		}
	}
}

/* --- what the watches say --- */

static bool watch_item_set(struct around *a, const struct change *c)
{
	struct watched *w = watched_of(a, c->kind);
	uint32_t most = c->kind == KIND_BUDGET ? AROUND_BUDGETS_MAX : AROUND_SCALERS_MAX;
	struct around_item *made = around_item_create(c);
	if (made == NULL) {
		w->unkept++;
		return false;
	}
	struct around_item **old = item_slot(a, c->kind, made->ns, made->name);
	if (*old != NULL) {
		item_unlink(a, old);
	} else if (w->count >= most || a->bytes > AROUND_BYTES_MAX) {
		around_item_destroy(made);
		w->unkept++;
		return false;
	}
	made->mark = w->mark;
	item_link(a, made);
	return true;
}

static void watch_item_gone(struct around *a, const struct change *c)
{
	struct around_item **slot = item_slot(a, c->kind, text_or(c->ns, ""), text_or(c->name, ""));
	if (*slot != NULL) {
		item_unlink(a, slot);
	}
}

/* One that cannot be read: what was known of it holds. If nothing was, then not all is known. */
static void watch_item_keep(struct around *a, const struct change *c)
{
	struct watched *w = watched_of(a, c->kind);
	struct around_item **slot = item_slot(a, c->kind, text_or(c->ns, ""), text_or(c->name, ""));
	if (*slot != NULL) {
		(*slot)->mark = w->mark;
	} else {
		w->missed = w->missed_now = true;
	}
}

static void watch_relist_end(struct around *a, const struct change *c)
{
	struct watched *w = watched_of(a, c->kind);
	if (!w->relisting) {
		return;
	}
	if (!c->no_sweep) {
		drop_unmarked(a, c->kind, w->mark);
	}
	w->relisting = false;
	w->complete = true;
	w->stale = false;
	w->missed = w->missed_now;
}

bool around_apply(struct around *a, const struct change *c)
{
	struct watched *w = watched_of(a, c->kind);
	ENSURE(c->kind == KIND_SCALER || c->kind == KIND_SCALED_OBJECT || c->kind == KIND_BUDGET);
	switch (c->type) {
	case CHANGE_SET:
		return watch_item_set(a, c);
	case CHANGE_GONE:
		watch_item_gone(a, c);
		return true;
	case CHANGE_KEEP:
		watch_item_keep(a, c);
		return true;
	case CHANGE_RELIST_BEGIN:
		w->mark++;
		w->relisting = true;
		w->missed_now = false;
		return true;
	case CHANGE_RELIST_END:
		watch_relist_end(a, c);
		return true;
	case CHANGE_STALE:
	case CHANGE_FRESH:
		w->stale = c->type == CHANGE_STALE;
		return true;
	case CHANGE_LEADER:
	case CHANGE_REACH:
	case CHANGE_SHARE:
	case CHANGE_SHUN:
	case CHANGE_HEARD:
	case CHANGE_RUNTIME:
		break;
	}
	BUG("not what a watch says");
}

/* --- lookups --- */

/* The next one of that target, or the first; NULL: no more. */
static const struct around_item *scaler_next(
	const struct around *a, const struct workload_key *target, const struct around_item *before)
{
	const struct around_item *i = before != NULL
					      ? before->next_placed
					      : a->placed[workload_key_hash(target) % CHAINS];
	while (i != NULL &&
		(i->kind == KIND_BUDGET || !workload_key_equals(&i->scaler.target, target))) {
		i = i->next_placed;
	}
	return i;
}

const struct scaler *around_scaler(const struct around *a, const struct workload_key *target)
{
	const struct around_item *found = NULL;
	for (const struct around_item *i = scaler_next(a, target, NULL); i != NULL;
		i = scaler_next(a, target, i)) {
		bool better = found == NULL ||
			      (i->kind != found->kind ? i->kind == KIND_SCALER
						      : strcmp(i->name, found->name) < 0);
		found = better ? i : found;
	}
	return found != NULL ? &found->scaler : NULL;
}

const struct scaler *around_gpu_scaler(
	const struct around *a, const struct workload_key *target, const char **ret_metric)
{
	const struct around_item *found = NULL;
	for (const struct around_item *i = scaler_next(a, target, NULL); i != NULL;
		i = scaler_next(a, target, i)) {
		if (i->gpu_metric != NULL && (found == NULL || strcmp(i->name, found->name) < 0)) {
			found = i;
		}
	}
	*ret_metric = found != NULL ? found->gpu_metric : NULL;
	return found != NULL ? &found->scaler : NULL;
}

/* A budget without a selector is of no pod. */
static bool budget_covers(const struct around_item *i, const char *ns, const struct pairs *labels)
{
	return i->kind == KIND_BUDGET && text_equals(i->ns, ns) && i->budget.selector.present &&
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
		if (first == NULL || strcmp(i->name, first->name) < 0) {
			second = first;
			first = i;
		} else if (second == NULL || strcmp(i->name, second->name) < 0) {
			second = i;
		}
	}
	if (first == NULL) {
		return (struct roll_budget){.known = false};
	}
	if (second == NULL) {
		return (struct roll_budget){
			true, arena_strdup(arena, first->name), first->budget.allowed};
	}
	return (struct roll_budget){true,
		arena_printf(arena, "%s (or %s: the API server evicts no pod that two select)",
			first->name, second->name),
		0};
}

struct around_kind around_of(const struct around *a, enum kind kind)
{
	const struct watched *w = watched_in(a, kind);
	return (struct around_kind){w->count, around_knows(a, kind), w->unkept};
}

void around_sum(const struct around *a, struct around_totals *ret)
{
	*ret = (struct around_totals){.scalers = a->scalers.count + a->scaled_objects.count,
		.budgets = a->budgets.count,
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
