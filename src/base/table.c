/* An array of records, and an index of their names. */
#include "base/table.h"

struct name_key {
	const char *ns, *name;
};

static bool row_has_name(const void *owner, uint32_t slot, const void *key)
{
	const struct table *t = owner;
	const struct name_key *k = key;
	const struct table_row *row = t->rows.items[slot];
	return strcmp(row->name, k->name) == 0 && strcmp(row->ns, k->ns) == 0;
}

void table_init(struct table *t, void (*drop)(void *data, struct table_row *row), void *data)
{
	*t = (struct table){.drop = drop, .data = data};
	map_init(&t->by_name, row_has_name, t);
}

void table_finish(struct table *t)
{
	while (t->rows.count > 0) {
		table_remove(t, t->rows.items[t->rows.count - 1]);
	}
	VEC_FINISH(&t->rows);
	map_finish(&t->by_name);
}

struct table_row *table_find(const struct table *t, const char *ns, const char *name)
{
	struct name_key key = {ns, name};
	uint32_t at = map_find(&t->by_name, key_pair(ns, name), &key);
	return at != MAP_NONE ? t->rows.items[at] : NULL;
}

static void row_place(struct table *t, struct table_row *row, uint32_t at)
{
	row->at = at;
	t->rows.items[at] = row;
	map_put(&t->by_name, key_pair(row->ns, row->name), at);
}

void table_add(struct table *t, struct table_row *row)
{
	row->mark = t->mark;
	VEC_PUSH(&t->rows, row);
	row_place(t, row, (uint32_t)t->rows.count - 1);
}

void table_remove(struct table *t, struct table_row *row)
{
	struct table_row *last = t->rows.items[--t->rows.count];
	map_remove(&t->by_name, key_pair(row->ns, row->name), row->at);
	if (last != row) {
		map_remove(&t->by_name, key_pair(last->ns, last->name), last->at);
		row_place(t, last, row->at);
	}
	t->drop(t->data, row);
}

void table_sweep(struct table *t)
{
	for (size_t i = t->rows.count; i-- > 0;) {
		if (t->rows.items[i]->mark != t->mark) {
			table_remove(t, t->rows.items[i]);
		}
	}
}
