/* xoshiro256**, seeded by splitmix64. */
#include "base/rand.h"

#include <sys/random.h>

#include "base/alloc.h"

static uint64_t rotate_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		seed += 0x9e3779b97f4a7c15u;
		uint64_t z = seed;
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		r->s[i] = z ^ (z >> 31);
	}
}

uint64_t rng_next(struct rng *r)
{
	uint64_t result = rotate_left(r->s[1] * 5, 7) * 9;
	uint64_t t = r->s[1] << 17;
	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotate_left(r->s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
	ENSURE(bound > 0);
	/* Rejection keeps it even; at most two draws on average. */
	uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
	uint64_t x = rng_next(r);
	while (x >= limit) {
		x = rng_next(r);
	}
	return x % bound;
}

uint64_t rng_system_seed(void)
{
	uint64_t seed = 0;
	if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
		BUG("the kernel gave no randomness");
	}
	return seed;
}
