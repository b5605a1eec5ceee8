/* A set of small numbers, a bit each. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define BITS_NONE UINT32_MAX

struct bits {
	VEC_FIELDS(uint64_t);
};

/* There is room for the numbers below `count`; those that come anew are not in the set. */
static inline void bits_reserve(struct bits *b, size_t count)
{
	while (b->count * 64 < count) {
		VEC_PUSH(b, 0);
	}
}

static inline void bits_finish(struct bits *b)
{
	VEC_FINISH(b);
}

static inline void bits_clear(struct bits *b)
{
	vec_for_each (uint64_t, word, b) {
		*word = 0;
	}
}

static inline bool bits_have(const struct bits *b, uint32_t i)
{
	return (b->items[i / 64] >> i % 64 & 1) != 0;
}

static inline void bits_put(struct bits *b, uint32_t i, bool in)
{
	uint64_t bit = (uint64_t)1 << i % 64;
	b->items[i / 64] = in ? b->items[i / 64] | bit : b->items[i / 64] & ~bit;
}

/* The first number that is in the set and not below `from`; BITS_NONE: there is none. */
static inline uint32_t bits_next(const struct bits *b, size_t from)
{
	for (size_t at = from / 64, skip = from % 64; at < b->count; at++, skip = 0) {
		uint64_t word = b->items[at] >> skip << skip;
		if (word != 0) {
			return (uint32_t)(at * 64) + (uint32_t)__builtin_ctzll(word);
		}
	}
	return BITS_NONE;
}

#endif
