/* Ends the process when a call into the driver does not come back: a driver can hang for good, and
 * nobody outside would learn why the container does nothing. The sentence goes to the termination
 * log. A process that is asked to end meanwhile, by SIGTERM or SIGINT that it has blocked, gives
 * the call two seconds more.
 *
 * The watchdog lies in the caller's frame; it must be disarmed before that is left. */
#ifndef NODE_WATCHDOG_H
#define NODE_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/cleanup.h"

struct watchdog {
	timer_t timer;
	bool armed;
	int64_t until_ms;     /* monotonic */
	int asked;	      /* ticks at which an end was asked for */
	const char *path;     /* borrowed; NULL: no file */
	const char *sentence; /* borrowed */
};

/* Exit status of a process that the watchdog ended; one more where the sentence could not be
 * written. */
#define WATCHDOG_STATUS 1

/* Without a timer (the kernel is out of them) the call goes unwatched. */
void watchdog_arm(struct watchdog *w, int64_t ms, const char *path, const char *sentence);
void watchdog_disarm(struct watchdog *w); /* NULL and zeroed are fine */

static inline void cleanup_watchdog(struct watchdog *w)
{
	watchdog_disarm(w);
}

#endif
