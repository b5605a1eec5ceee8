/* Does a table name every member of its struct? */
#ifndef TEST_RECORD_COVERS_H
#define TEST_RECORD_COVERS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "record/record_table.h"

/* All bytes are set, then those of padding are not: what is left belongs to a member. */
#define EXPECT_COVERS(table, type)                                                                 \
	do {                                                                                       \
		type all;                                                                          \
		memset(&all, 0xff, sizeof all);                                                    \
		__builtin_clear_padding(&all);                                                     \
		expect_covers(&(table), (unsigned char *)&all, sizeof all);                        \
	} while (false)

static inline void take_away(unsigned char *bytes, size_t at, size_t n)
{
	memset(bytes + at, 0, n);
}

static inline void expect_covers(const struct record_table *t, unsigned char *bytes, size_t size)
{
	cr_assert_eq(t->size, size, "%s", t->name);
	for (uint32_t i = 0; i < t->row_count; i++) {
		const struct record_row *r = &t->rows[i];
		bool is_vec = r->kind == ROW_VEC;
		take_away(bytes, r->at, is_vec ? sizeof(struct { VEC_FIELDS(char); }) : r->size);
		if (r->kind == ROW_LIST) {
			take_away(bytes, r->count_at, sizeof(uint32_t));
		}
	}
	for (size_t i = 0; i < size; i++) {
		cr_expect_eq(bytes[i], 0, "%s: a member at byte %zu has no row", t->name, i);
	}
}

#endif
