/* A LIST in pages: what there was when its first page was asked for, for as long as that is kept.
 * The pages are small and few lists are kept, so that a page is gone now and then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim_parts.h"

#define PAGE_MOST 6

static void listing_drop(struct listing *l)
{
	for (size_t i = 0; i < l->items.count; i++) {
		stored_drop(l->items.items[i]);
	}
	VEC_FINISH(&l->items);
	*l = (struct listing){0};
}

void pages_finish(struct sim *s)
{
	for (size_t i = 0; i < COUNT_OF(s->memory.listings.kept); i++) {
		listing_drop(&s->memory.listings.kept[i]);
	}
}

struct listing *pages_begin(struct sim *s)
{
	struct listings *all = &s->memory.listings;
	struct listing *l = &all->kept[all->next % COUNT_OF(all->kept)];
	listing_drop(l);
	l->serial = ++all->next;
	l->version = s->store.version;
	return l;
}

struct listing *pages_find(struct sim *s, const char *token, size_t *ret_from)
{
	char serial[24];
	int64_t number, from;
	size_t n = strcspn(token, "-");
	snprintf(serial, sizeof serial, "%.*s", (int)n, token);
	if (token[n] == '\0' || !parse_i64(view_of(serial), 1, INT64_MAX, &number) ||
		!parse_i64(view_of(token + n + 1), 1, INT64_MAX, &from)) {
		return NULL;
	}
	struct listings *all = &s->memory.listings;
	struct listing *l = &all->kept[(size_t)(number - 1) % COUNT_OF(all->kept)];
	bool there = l->serial == (uint64_t)number && (size_t)from <= l->items.count;
	*ret_from = (size_t)from;
	return there ? l : NULL;
}

json_t *pages_page(const struct listing *l, size_t from, bool whole, bool *ret_last)
{
	char version[32], more[48];
	size_t end = l->items.count;
	end = !whole && end - from > PAGE_MOST ? from + PAGE_MOST : end;
	json_t *items = json_array();
	for (size_t i = from; i < end; i++) {
		json_array_append(items, l->items.items[i]->value);
	}
	*ret_last = end == l->items.count;
	snprintf(version, sizeof version, "%lld", (long long)l->version);
	snprintf(more, sizeof more, "%llu-%zu", (unsigned long long)l->serial, end);
	return json_pack("{s:s, s:s, s:{s:s, s:s}, s:o}", "kind", "List", "apiVersion", "v1",
		"metadata", "resourceVersion", version, "continue", *ret_last ? "" : more, "items",
		items);
}
