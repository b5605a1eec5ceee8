/* Recommendations by name, each one block of memory. */
#include "world/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/table.h"
#include "model/mirror.h"

/* No object's name or namespace is longer. */
#define TEXT_MAX 1024

struct entry {
	struct table_row row;
	struct arena arena; /* of all its texts */
	struct advised advised;
};

struct advice {
	struct table entries;
};

static void entry_drop(void *data, struct table_row *row)
{
	struct entry *e = (struct entry *)(void *)row;
	(void)data;
	arena_finish(&e->arena);
	free(e);
}

struct advice *advice_create(void)
{
	struct advice *a = xcalloc(1, sizeof *a);
	table_init(&a->entries, entry_drop, NULL);
	return a;
}

void advice_destroy(struct advice *a)
{
	if (a != NULL) {
		table_finish(&a->entries);
		free(a);
	}
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
	e->row.ns = e->advised.target.ns;
	e->row.name = e->advised.name;
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
	struct table_row *old = table_find(&a->entries, key->ns, r->name);
	if (old != NULL) {
		table_remove(&a->entries, old);
	}
	table_add(&a->entries, &entry_create(r)->row);
	return true;
}

bool advice_apply(struct advice *a, const struct change *c)
{
	if (c->type == CHANGE_SET) {
		return advice_set(a, c->recommendation);
	}
	mirror_follow(&a->entries, c);
	return true;
}

const struct advised *advice_find(const struct advice *a, const struct workload_key *key)
{
	CLEANUP(arena_finish) struct arena arena = {.block_bytes = 512};
	const struct table_row *row =
		table_find(&a->entries, key->ns, workload_object_name(key, &arena));
	const struct entry *e = (const struct entry *)(const void *)row;
	return e != NULL && workload_key_equals(&e->advised.target, key) ? &e->advised : NULL;
}

size_t advice_count(const struct advice *a)
{
	return a->entries.rows.count;
}
