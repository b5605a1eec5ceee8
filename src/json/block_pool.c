/* Blocks that count what lives in them. Each value has before it the block that it came from. */
#include "block_pool.h"

#include <stdint.h>

#include "base/alloc.h"

#define ALIGN	   16
#define SHARED_MAX (POOL_BLOCK_BYTES / 4) /* larger ones go to the heap, by themselves */

struct pool_block {
	struct pool_block *next; /* of the spares */
	size_t used;
	size_t live;
	_Alignas(ALIGN) unsigned char bytes[];
};

struct tag {
	_Alignas(ALIGN) struct pool_block *block; /* NULL: from the heap, by itself */
};

#define ROOM (POOL_BLOCK_BYTES - sizeof(struct pool_block))

static struct pool_block *block_take(struct pool *p)
{
	struct pool_block *b = p->spares;
	if (b == NULL) {
		b = xmalloc(POOL_BLOCK_BYTES);
	} else {
		p->spares = b->next;
		p->spare_count--;
	}
	b->next = NULL;
	b->used = b->live = 0;
	return b;
}

void *pool_alloc(struct pool *p, size_t size)
{
	ENSURE(size <= SIZE_MAX - 2 * sizeof(struct tag));
	size_t need = sizeof(struct tag) + ((size + ALIGN - 1) & ~(size_t)(ALIGN - 1));
	struct tag *tag;
	if (need > SHARED_MAX) {
		tag = xmalloc(need);
		tag->block = NULL;
		return tag + 1;
	}
	/* The block that is full has something alive in it: its last value gives it back. */
	if (p->now == NULL || ROOM - p->now->used < need) {
		p->now = block_take(p);
	}
	tag = (struct tag *)(void *)(p->now->bytes + p->now->used);
	tag->block = p->now;
	p->now->used += need;
	p->now->live++;
	return tag + 1;
}

static void block_give(struct pool *p, struct pool_block *b)
{
	if (b == p->now) {
		b->used = 0;
	} else if (p->spare_count == POOL_SPARES_MAX) {
		free(b);
	} else {
		b->next = p->spares;
		p->spares = b;
		p->spare_count++;
	}
}

void pool_free(struct pool *p, void *value)
{
	if (value == NULL) {
		return;
	}
	struct tag *tag = (struct tag *)value - 1;
	struct pool_block *b = tag->block;
	if (b == NULL) {
		free(tag);
		return;
	}
	ENSURE(b->live > 0);
	if (--b->live == 0) {
		block_give(p, b);
	}
}

void pool_finish(struct pool *p)
{
	ENSURE(p->now == NULL || p->now->live == 0);
	free(p->now);
	while (p->spares != NULL) {
		struct pool_block *b = p->spares;
		p->spares = b->next;
		free(b);
	}
	*p = (struct pool){0};
}

static struct pool jansson_pool;

void *pool_jansson_alloc(size_t size)
{
	return pool_alloc(&jansson_pool, size);
}

void pool_jansson_free(void *value)
{
	pool_free(&jansson_pool, value);
}
