/* Recommendations by name, each one block of memory. */
#include "world/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/* No object's name or namespace is longer. */
#define TEXT_MAX 1024

struct entry {
	struct arena arena; /* of all its texts */
	struct advised advised;
	uint32_t mark;
};

struct advice {
	struct {
		VEC_FIELDS(struct entry *);
	} all;
	struct map by_name;
	uint32_t mark;
};

/* Namespace and name. */
struct name_key {
	const char *ns, *name;
};

static bool same_name(const void *owner, uint32_t slot, const void *key)
{
	const struct advice *a = owner;
	const struct name_key *k = key;
	const struct advised *x = &a->all.items[slot]->advised;
	return text_equals(x->target.ns, k->ns) && text_equals(x->name, k->name);
}

struct advice *advice_create(void)
{
	struct advice *a = xcalloc(1, sizeof *a);
	map_init(&a->by_name, same_name, a);
	return a;
}

static void entry_destroy(struct entry *e)
{
	arena_finish(&e->arena);
	free(e);
}

void advice_destroy(struct advice *a)
{
	if (a == NULL) {
		return;
	}
	for (size_t i = 0; i < a->all.count; i++) {
		entry_destroy(a->all.items[i]);
	}
	VEC_FINISH(&a->all);
	map_finish(&a->by_name);
	free(a);
}

static uint32_t advice_slot(const struct advice *a, const char *ns, const char *name)
{
	struct name_key key = {ns, name};
	return map_find(&a->by_name, key_pair(ns, name), &key);
}

static void advice_remove(struct advice *a, uint32_t at)
{
	struct entry *e = a->all.items[at];
	uint32_t last = (uint32_t)a->all.count - 1;
	map_remove(&a->by_name, key_pair(e->advised.target.ns, e->advised.name), at);
	if (at != last) {
		struct entry *moved = a->all.items[last];
		uint64_t hash = key_pair(moved->advised.target.ns, moved->advised.name);
		map_remove(&a->by_name, hash, last);
		a->all.items[at] = moved;
		map_put(&a->by_name, hash, at);
	}
	a->all.count--;
	entry_destroy(e);
}

static size_t text_bytes(const char *text)
{
	return text != NULL ? strlen(text) + 1 : 0;
}

/* There are thousands, and each has a block of its own. */
static size_t advised_bytes(const struct recommendation *r)
{
	const struct workload_key *key = &r->target;
	size_t bytes = (r->container_count + 1) * sizeof(struct advised_container);
	bytes += text_bytes(key->ns) + text_bytes(key->group) + text_bytes(key->kind) +
		 text_bytes(key->name) + text_bytes(r->name);
	for (uint32_t i = 0; i < r->container_count; i++) {
		bytes += text_bytes(r->containers[i].name);
	}
	return bytes;
}

static struct entry *entry_create(const struct recommendation *r)
{
	struct entry *e = xcalloc(1, sizeof *e);
	e->arena.block_bytes = advised_bytes(r);
	struct arena *a = &e->arena;
	struct advised_container *made =
		ARENA_ARRAY(a, struct advised_container, r->container_count);
	uint32_t count = 0;
	for (uint32_t i = 0; i < r->container_count; i++) {
		const struct recommended_container *c = &r->containers[i];
		if (c->target.milli > 0 && c->target.mib > 0) {
			made[count++] =
				(struct advised_container){arena_strdup(a, c->name), c->target};
		}
	}
	const struct workload_key *key = &r->target;
	e->advised =
		(struct advised){.target = {arena_strdup(a, key->ns), arena_strdup(a, key->group),
					 arena_strdup(a, key->kind), arena_strdup(a, key->name)},
			.name = arena_strdup(a, r->name),
			.revision = r->revision,
			.ready = recommendation_holds(r),
			.containers = made,
			.container_count = count};
	return e;
}

static bool text_is_too_long(const char *text)
{
	return text == NULL || strlen(text) > TEXT_MAX;
}

static bool advice_set(struct advice *a, const struct recommendation *r)
{
	const struct workload_key *key = &r->target;
	if (text_is_too_long(r->name) || text_is_too_long(key->ns) ||
		text_is_too_long(key->group) || text_is_too_long(key->kind) ||
		text_is_too_long(key->name) || r->container_count > RECOMMENDED_CONTAINERS_MAX) {
		return false;
	}
	uint32_t old = advice_slot(a, key->ns, r->name);
	if (old != MAP_NONE) {
		advice_remove(a, old);
	}
	struct entry *e = entry_create(r);
	e->mark = a->mark;
	VEC_PUSH(&a->all, e);
	map_put(&a->by_name, key_pair(key->ns, r->name), (uint32_t)a->all.count - 1);
	return true;
}

/* Something could not be read: what is known of it stays. Without a name it may be any. */
static void advice_keep(struct advice *a, const char *ns, const char *name)
{
	for (size_t i = 0; name == NULL && i < a->all.count; i++) {
		a->all.items[i]->mark = a->mark;
	}
	uint32_t at = name != NULL ? advice_slot(a, text_or(ns, ""), name) : MAP_NONE;
	if (at != MAP_NONE) {
		a->all.items[at]->mark = a->mark;
	}
}

static void advice_sweep(struct advice *a)
{
	for (size_t i = a->all.count; i-- > 0;) {
		if (a->all.items[i]->mark != a->mark) {
			advice_remove(a, (uint32_t)i);
		}
	}
}

bool advice_apply(struct advice *a, const struct change *c)
{
	uint32_t at;
	switch (c->type) {
	case CHANGE_SET:
		return advice_set(a, c->recommendation);
	case CHANGE_GONE:
		at = advice_slot(a, text_or(c->ns, ""), text_or(c->name, ""));
		if (at != MAP_NONE) {
			advice_remove(a, at);
		}
		return true;
	case CHANGE_KEEP:
		advice_keep(a, c->ns, c->name);
		return true;
	case CHANGE_RELIST_BEGIN:
		a->mark++;
		return true;
	case CHANGE_RELIST_END:
		if (!c->no_sweep) {
			advice_sweep(a);
		}
		return true;
	case CHANGE_STALE:
	case CHANGE_FRESH:
	case CHANGE_LEADER:
	case CHANGE_REACH:
	case CHANGE_SHARE:
	case CHANGE_SHUN:
	case CHANGE_HEARD:
	case CHANGE_RUNTIME:
		return true;
	}
	BUG("not a change");
}

const struct advised *advice_find(const struct advice *a, const struct workload_key *key)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
	uint32_t at = advice_slot(a, key->ns, workload_object_name(key, &arena));
	if (at == MAP_NONE) {
		return NULL;
	}
	const struct advised *x = &a->all.items[at]->advised;
	return workload_key_equals(&x->target, key) ? x : NULL;
}

size_t advice_count(const struct advice *a)
{
	return a->all.count;
}
