/* The time of the step that runs, or ran last: a number, and the monotonic clock; and when the next
 * one is due although nothing happened. */
#ifndef LEDGER_STEP_TIME_H
#define LEDGER_STEP_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct step_time {
	uint64_t step;
	int64_t now;
	int64_t deadline;
	bool dirty;	/* another one is due at once */
	uint64_t round; /* the step in which the ranks were begun from the first */
};

/* Lower the next deadline. What is due already was looked at by this step: asking for another one
 * would only spin, for as long as that lasts. */
static inline void wake_by(struct step_time *t, int64_t at)
{
	if (at > t->now) {
		t->deadline = time_min(t->deadline, at);
	}
}

#endif
