/* Does a table name every member of its struct? */
#ifndef TEST_COVERS_H
#define TEST_COVERS_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "record/record_table.h"

/* A compiler that cannot tell padding from members looks at nothing. */
#if __has_builtin(__builtin_clear_padding)
#define CLEAR_PADDING(p) __builtin_clear_padding(p)
#else
#define CLEAR_PADDING(p) memset((p), 0, sizeof *(p))
#endif

/* All bytes are set, then those of padding are not: what is left belongs to a member. */
#define EXPECT_COVERS(table, type)                                                                 \
	do {                                                                                       \
		type all;                                                                          \
		memset(&all, 0xff, sizeof all);                                                    \
		CLEAR_PADDING(&all);                                                               \
		expect_covers(&(table), (unsigned char *)&all, sizeof all);                        \
	} while (false)

/* What each record below that member is. */
static inline const struct record_table *table_below(
	const struct record_table *t, const char *member)
{
	for (uint32_t i = 0; i < t->row_count; i++) {
		if (strcmp(t->rows[i].name, member) == 0 && t->rows[i].of != NULL) {
			return t->rows[i].of;
		}
	}
	cr_assert(false, "%s has nothing below %s", t->name, member);
	return NULL;
}

static inline void take_away(unsigned char *bytes, size_t at, size_t n)
{
	memset(bytes + at, 0, n);
}

static inline void expect_covers(const struct record_table *t, unsigned char *bytes, size_t size)
{
	bool has_array = false;
	size_t end = 0;
	cr_assert_eq(t->size, size, "%s", t->name);
	for (uint32_t i = 0; i < t->row_count; i++) {
		const struct record_row *r = &t->rows[i];
		size_t n = r->kind == ROW_VEC ? sizeof(struct { VEC_FIELDS(char); }) : r->size;
		take_away(bytes, r->at, n);
		if (r->kind == ROW_LIST) {
			take_away(bytes, r->count_at, sizeof(uint32_t));
		}
		end = r->at + n > end ? r->at + n : end;
		has_array = has_array || r->kind == ROW_ARRAY;
	}
	/* Behind an array of structs GCC 12 takes the padding at the end for something. */
	size_t look = has_array && size - end < sizeof(uint64_t) ? end : size;
	for (size_t i = 0; i < look; i++) {
		cr_expect_eq(bytes[i], 0, "%s: a member at byte %zu has no row", t->name, i);
	}
}

#endif
