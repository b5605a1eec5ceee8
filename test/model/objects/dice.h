/* Chance, in pieces that do not depend on each other. What happens by chance has a scope, named by
 * what it is about (the third request for this path, the fifth second), and draws from a generator
 * of its own, made from the seed and the scope. So one trouble can be taken out of a run and the
 * others fall as they did before, as far as the cluster still gives them occasion.
 *
 * Every trouble that happens has an id, the same in each run of the seed. A run can be told to
 * let only some of them happen: that is how a failure is shrunk to the few that it needs. */
#ifndef SIM_DICE_H
#define SIM_DICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/rand.h"
#include "base/vec.h"

struct sim;

/* Where draws come from now. */
struct dice {
	struct rng rng;
	uint64_t scope;
};

/* How often each scope was entered, so that the next time is another one. */
struct dice_count {
	uint64_t key;
	uint64_t times;
};
struct dice_counts {
	struct map by_key;
	struct {
		VEC_FIELDS(struct dice_count);
	} rows;
};

void dice_init(struct sim *s);
void dice_finish(struct sim *s);
/* A scope that is about `text` (NULL: nothing) and a number. */
uint64_t dice_key(const char *kind, const char *text, uint64_t number);
/* The same for things that come again: each time another scope. */
uint64_t dice_next(struct sim *s, const char *kind, const char *text, uint64_t number);
/* Draws from that scope until dice_leave with what was returned. */
struct dice dice_enter(struct sim *s, uint64_t scope);
void dice_leave(struct sim *s, struct dice back);
/* Does this kind of trouble happen in this scope? What is drawn next is about it. */
bool dice_falls(struct sim *s, const char *kind, uint32_t per_mille);
/* What it was, for people; of the one that fell last. */
void dice_say(struct sim *s, const char *format, ...) PRINTF(2, 3);

/* Draws. A rate of zero draws nothing, so that a fault that is off changes no other. */
bool sim_chance(struct sim *s, uint32_t per_mille);
int64_t sim_between(struct sim *s, int64_t least, int64_t most);

#endif
