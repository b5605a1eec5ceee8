/* What all workloads share: how many replacements began in the last ten minutes, and where one is
 * under way. Ten minutes are kept as steps of ten seconds, the oldest of which counts to its end,
 * so the bound holds over every ten minutes and not only over those that begin at a full one. */
#ifndef ROLL_ROLLOUT_BUDGET_H
#define ROLL_ROLLOUT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define ROLL_BUDGET_MS	    600000
#define ROLL_BUDGET_STEP_MS 10000
#define ROLL_BUDGET_STEPS   (ROLL_BUDGET_MS / ROLL_BUDGET_STEP_MS + 1)
#define ROLL_BUDGET_PERCENT 5

struct roll_flight {
	uint64_t id;
	uint64_t node; /* a hash of its name: two that meet only wait for each other */
	int64_t step;  /* in which it began */
};

/* All zero at first. */
struct roll_fleet {
	int64_t managed; /* pods; the caller's to set */
	int64_t step;	 /* the newest of `begun` */
	uint32_t begun[ROLL_BUDGET_STEPS];
	uint64_t last_id;
	VEC_OF(struct roll_flight) flights;
};

void roll_fleet_finish(struct roll_fleet *f);

/* When the next one may begin, as far as the budget goes: `now_ms`, or when the oldest drops out.
 */
int64_t roll_fleet_due(struct roll_fleet *f, int64_t now_ms);
bool roll_fleet_is_busy(const struct roll_fleet *f, const char *node);
/* Returns its id, never 0. */
uint64_t roll_fleet_begin(struct roll_fleet *f, const char *node, int64_t now_ms);
void roll_fleet_end(struct roll_fleet *f, uint64_t id); /* 0 is fine */
/* The same, and it does not count: nothing was replaced. */
void roll_fleet_cancel(struct roll_fleet *f, uint64_t id);

#endif
