/* Records by name, and those that are not met again. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/table.h"

static void drop_record(void *data, struct table_row *row)
{
	int *dropped = data;
	(*dropped)++;
	free(row);
}

static void add_record(struct table *t, const char *name)
{
	struct table_row *row = xcalloc(1, sizeof *row);
	row->ns = "team";
	row->name = name;
	table_add(t, row);
}

Test(table, finds_what_is_there_and_sweeps_what_is_not_met)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	int dropped = 0;
	struct table t;
	table_init(&t, drop_record, &dropped);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		add_record(&t, names[i]);
	}
	cr_expect_null(table_find(&t, "other", "a"));
	table_remove(&t, table_find(&t, "team", "b"));
	cr_expect_null(table_find(&t, "team", "b"));
	t.mark++;
	table_find(&t, "team", "e")->mark = t.mark;
	table_find(&t, "team", "a")->mark = t.mark;
	table_sweep(&t);
	cr_expect_eq(dropped, 3);
	cr_expect_eq(t.rows.count, 2);
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const struct table_row *row = table_find(&t, "team", names[i]);
		cr_expect_eq(row != NULL, i == 0 || i == 4, "%s", names[i]);
		cr_expect(row == NULL || t.rows.items[row->at] == row);
	}
	table_finish(&t);
	cr_expect_eq(dropped, 5);
}
