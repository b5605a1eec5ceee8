/* A small seeded generator (xoshiro256**): reproducible where it matters, and never for secrets. */
#ifndef BASE_RAND_H
#define BASE_RAND_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound); /* 0 <= result < bound, bound > 0 */
uint64_t rng_system_seed(void);			   /* from the kernel */

#endif
