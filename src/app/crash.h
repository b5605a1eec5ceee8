/* The process ends at one of its own writes, by name: what a test needs to see what becomes of each
 * thing half done. Only sanitized builds that are not release builds have it; in what is shipped
 * crash_wire() gives back what it was given.
 *
 * $ALIQUOT_CRASH_AT names a file. Where that holds "before NAME" or "after NAME" when a write of
 * that name is about to leave, or was answered with success and nobody here knows it yet, the file
 * is removed and the process ends as by kill -9. The names are the rows in test/crash/crash.c. */
#ifndef APP_CRASH_H
#define APP_CRASH_H

#include "model/wire.h"

struct crash;

#ifdef ALIQUOT_CRASH

/* A crash; NULL: nobody asked for it. `inner` is borrowed and must outlive it. */
struct crash *crash_create(struct wire *inner);
/* After everybody who sends through it. */
void crash_destroy(struct crash *c);
struct wire *crash_wire(struct crash *c, struct wire *inner);

#else

static inline struct crash *crash_create(struct wire *inner)
{
	(void)inner;
	return NULL;
}
static inline void crash_destroy(struct crash *c)
{
	(void)c;
}
static inline struct wire *crash_wire(struct crash *c, struct wire *inner)
{
	(void)c;
	return inner;
}

#endif
#endif
