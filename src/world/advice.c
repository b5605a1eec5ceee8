/* Recommendations by name, each one block of memory. */
#include "world/advice.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/table.h"
#include "model/mirror.h"
#include "nouns.h"
#include "record/tables.h"

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

static const struct record_row container_rows[] = {MEMBER(struct advised_container, name),
	PART(struct advised_container, target, share_table)};
static const struct record_table container_table =
	RECORD_TABLE(struct advised_container, container_rows);

static const struct record_row advised_rows[] = {PART(struct advised, target, workload_key_table),
	MEMBER(struct advised, name),
	LIST(struct advised, containers, container_count, container_table)};
static const struct record_table advised_table = RECORD_TABLE(struct advised, advised_rows);

static struct entry *entry_create(const struct recommendation *r)
{
	struct advised_container containers[RECOMMENDED_CONTAINERS_MAX];
	struct advised advised = {.target = r->target,
		.name = r->name,
		.revision = r->revision,
		.ready = recommendation_holds(r),
		.containers = containers};
	for (uint32_t i = 0; i < r->container_count; i++) {
		const struct recommended_container *c = &r->containers[i];
		if (c->target.milli > 0 && c->target.mib > 0) {
			containers[advised.container_count++] =
				(struct advised_container){c->name, c->target};
		}
	}
	struct entry *e = xcalloc(1, sizeof *e);
	noun_copy(&e->arena, &advised_table, &advised, &e->advised);
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
