/* A door that closes while something is wrong, and that tries now and then whether it still is: a
 * closed door keeps away what would show that all is well again. While it is closed a few are let
 * through as a trial. Where one of them arrives, the next trial begins at once and lets twice as
 * many through; where none does, the next one waits twice as long.
 *
 * Time comes as an argument. `sign` is any number that grows when somebody arrives. */
#ifndef GATE_TRIAL_H
#define GATE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#define TRIAL_WAIT_MS	   60000  /* before the first one */
#define TRIAL_WAIT_MOST_MS 600000 /* before the next one after many in vain */
#define TRIAL_LASTS_MS	   120000 /* from the first that is let through to the judgement */
#define TRIAL_SEATS_MOST   64

struct trial {
	uint32_t first_seats; /* of a first trial; 0: one */
	bool closed;
	int64_t well_since; /* closed, and nothing is wrong since then; -1: something is */
	int64_t opened_at;  /* when it was opened last; 0: it never was */
	int64_t sign;	    /* as it was when it was closed, or when the trial began */
	int64_t next_at;    /* nobody is let through before */
	int64_t began_at;   /* of the trial under way; 0: none is */
	int64_t wait_ms;
	uint32_t seats, taken;
	bool in_vain; /* the last trial was; until the next one is not */
};

/* `wrong`: what closes the gate is so now. */
void trial_step(struct trial *t, bool wrong, int64_t sign, int64_t now);
/* May one more pod be converted now? */
bool trial_is_open(const struct trial *t, int64_t now);
/* A pod is converted. */
void trial_take(struct trial *t, int64_t now);

#endif
