/* The pool of JSON values: what it hands out is its own and aligned, and blocks come back. */
#include "block_pool.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define COUNT 20000

Test(pool, values_are_apart_and_aligned)
{
	struct pool pool = {0};
	unsigned char **values = xcalloc(COUNT, sizeof *values);
	for (size_t i = 0; i < COUNT; i++) {
		values[i] = pool_alloc(&pool, i % 300);
		cr_assert_eq((uintptr_t)values[i] % 16, 0);
		memset(values[i], (int)(i % 251), i % 300);
	}
	/* In an order that is neither theirs nor its reverse. */
	for (size_t n = 0; n < COUNT; n++) {
		size_t i = n * 7919 % COUNT;
		for (size_t at = 0; at < i % 300; at++) {
			cr_assert_eq(values[i][at], i % 251, "value %zu was written over", i);
		}
		pool_free(&pool, values[i]);
	}
	cr_assert_leq(pool.spare_count, POOL_SPARES_MAX, "blocks must go back to the heap");
	free(values);
	pool_finish(&pool);
}

Test(pool, a_block_is_used_again)
{
	struct pool pool = {0};
	void *first = pool_alloc(&pool, 100);
	void *second = pool_alloc(&pool, 100);
	cr_assert_neq(first, second);
	pool_free(&pool, first);
	pool_free(&pool, second);
	cr_assert_eq(pool_alloc(&pool, 100), first, "an empty block begins anew");
	for (int i = 0; i < COUNT; i++) {
		void *value = pool_alloc(&pool, 1000);
		pool_free(&pool, value);
	}
	cr_assert_leq(pool.spare_count, 1, "one value keeps one block and no more");
	pool_free(&pool, first);
	pool_finish(&pool);
}

Test(pool, large_values_are_alone)
{
	struct pool pool = {0};
	unsigned char *large = pool_alloc(&pool, 4 * POOL_BLOCK_BYTES);
	memset(large, 1, 4 * POOL_BLOCK_BYTES);
	cr_assert_null(pool.now, "no block is opened for it");
	pool_free(&pool, large);
	pool_free(&pool, NULL);
	void *nothing = pool_alloc(&pool, 0);
	cr_assert_not_null(nothing);
	pool_free(&pool, nothing);
	pool_finish(&pool);
}
