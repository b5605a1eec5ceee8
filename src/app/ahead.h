/* Policy time may run ahead of the wall, so that a test need not wait for hours to pass. Only
 * sanitized builds have it; in what is shipped policy time is wall time.
 *
 * $ALIQUOT_AHEAD names a file with a number of milliseconds, read again at every turn; it outlives
 * the process, as a clock does. */
#ifndef APP_AHEAD_H
#define APP_AHEAD_H

#include "base/clock.h"

#ifdef ALIQUOT_CRASH

void ahead_look(struct clock *c);

#else

static inline void ahead_look(struct clock *c)
{
	(void)c;
}

#endif
#endif
