/* A table of names, each with its amount in one piece of memory. */
#include "base/tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct tally_row {
	struct table_row row;
	size_t amount;
	char name[];
};

static void tally_drop(void *data, struct table_row *row)
{
	(void)data;
	free(row);
}

void tally_init(struct tally *t)
{
	table_init(&t->rows, tally_drop, NULL);
}

void tally_finish(struct tally *t)
{
	table_finish(&t->rows);
}

static struct tally_row *tally_find(const struct tally *t, const char *name)
{
	return (struct tally_row *)(void *)table_find(&t->rows, "", name);
}

size_t tally_get(const struct tally *t, const char *name)
{
	const struct tally_row *r = tally_find(t, name);
	return r != NULL ? r->amount : 0;
}

void tally_add(struct tally *t, const char *name, size_t amount)
{
	struct tally_row *r = tally_find(t, name);
	if (r == NULL) {
		r = xcalloc(1, sizeof *r + strlen(name) + 1);
		memcpy(r->name, name, strlen(name) + 1);
		r->row = (struct table_row){.ns = "", .name = r->name};
		table_add(&t->rows, &r->row);
	}
	r->amount += amount;
}

void tally_take(struct tally *t, const char *name, size_t amount)
{
	struct tally_row *r = tally_find(t, name);
	r->amount -= amount;
	if (r->amount == 0) {
		table_remove(&t->rows, &r->row);
	}
}
