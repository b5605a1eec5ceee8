/* Memory for JSON values: many small ones, made together and gone together.
 *
 * Values are cut from blocks one after the other; a block is used again once all that was cut from
 * it is free. For a tree that lives as long as one object or one request this costs a few
 * instructions a value, whatever the heap around it looks like. Nobody may keep a value for long:
 * it would keep its whole block. */
#ifndef JSON_BLOCK_POOL_H
#define JSON_BLOCK_POOL_H

#include <stddef.h>

#define POOL_BLOCK_BYTES ((size_t)64 << 10)
#define POOL_SPARES_MAX	 8 /* empty blocks that are kept */

struct pool_block;

/* A zeroed struct is an empty pool. */
struct pool {
	struct pool_block *now;	   /* owned: where the next value comes from */
	struct pool_block *spares; /* owned: a list of empty ones */
	size_t spare_count;
};

void *pool_alloc(struct pool *p, size_t size); /* aligned for any type, not zeroed */
void pool_free(struct pool *p, void *value);   /* NULL is fine */
/* Everything was freed before. */
void pool_finish(struct pool *p);

/* What jansson calls: one pool for the process, since jansson has no place for a pointer to it. */
void *pool_jansson_alloc(size_t size);
void pool_jansson_free(void *value);

#endif
