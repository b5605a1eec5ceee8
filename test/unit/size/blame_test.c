/* Who is over its share, when a GPU is short, and whom an out-of-memory is charged to (C29). */
#include <criterion/criterion.h>

#include "size/blame.h"

#include "base/alloc.h"

Test(blame, over_a_share_is_beyond_what_is_tolerated)
{
	static const struct {
		int64_t share, used, excess;
	} rows[] = {
		{1000, 0, 0},
		{1000, 1000, 0},
		{1000, 1064, 0},
		{1000, 1065, 65},
		{10000, 10200, 0},
		{10000, 10201, 201}, /* 2 % of a large one are more */
		{0, 64, 0},
		{0, 65, 65},
		{1000, -1, 0},
		{-1, 5000, 0},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct blame_user u = {rows[i].share, rows[i].used};
		cr_expect_eq(blame_excess(&u), rows[i].excess, "row %zu: %lld", i,
			(long long)blame_excess(&u));
	}
}

Test(blame, a_gpu_is_short_of_memory)
{
	static const struct {
		int64_t total, used;
		bool is_short;
	} rows[] = {
		{16384, 15872, false},
		{16384, 15873, true},
		{16384, 16384, true},
		{81920, 80282, false},
		{81920, 80283, true}, /* 2 % of a large one are more */
		{16384, 17000, true},
		{0, 0, false},
		{-1, 100, false},
		{16384, -1, false},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		cr_expect_eq(blame_is_short(rows[i].total, rows[i].used), rows[i].is_short,
			"row %zu", i);
	}
}

/* The victim stands first. */
Test(blame, c29_an_out_of_memory_is_charged_to_those_over_their_share)
{
	static const struct {
		struct blame_user users[3];
		uint32_t count;
		enum blame blame;
		bool charged[3];
	} rows[] = {
		{{{1000, 0}}, 1, BLAME_OWN, {true}},
		{{{1000, 1000}, {1000, 1000}}, 2, BLAME_OWN, {true, false}},
		{{{1000, 1000}, {1000, 1064}}, 2, BLAME_OWN, {true, false}},
		{{{1000, 400}, {1000, 1500}}, 2, BLAME_OTHERS, {false, true}},
		{{{1000, 400}, {1000, 1500}, {1000, 900}}, 3, BLAME_OTHERS, {false, true, false}},
		{{{1000, -1}, {1000, 1500}}, 2, BLAME_OTHERS, {false, true}},
		/* over itself: with others one of them, alone its own */
		{{{1000, 1500}, {1000, 1500}}, 2, BLAME_OTHERS, {true, true}},
		{{{1000, 1500}, {1000, 900}}, 2, BLAME_OWN, {true, false}},
		/* silence is no innocence, and no guilt */
		{{{1000, 400}, {1000, -1}}, 2, BLAME_UNKNOWN, {false, false}},
		{{{1000, 1500}, {1000, -1}}, 2, BLAME_UNKNOWN, {false, false}},
		{{{1000, 400}, {1000, -1}, {1000, 2000}}, 3, BLAME_OTHERS, {false, false, true}},
		{{{1000, 400}, {-1, 500}}, 2, BLAME_UNKNOWN, {false, false}},
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		enum blame blame = blame_out_of_memory(rows[i].users, rows[i].count, 0);
		cr_expect_eq(blame, rows[i].blame, "row %zu: %d", i, (int)blame);
		for (uint32_t k = 0; k < rows[i].count; k++) {
			cr_expect_eq(blame_charges(blame, &rows[i].users[k], k == 0),
				rows[i].charged[k], "row %zu, tenant %u", i, k);
		}
	}
}
