/* What the rest of this room may know about the loop: that it is libev's. */
#ifndef IO_LOOP_INSIDE_H
#define IO_LOOP_INSIDE_H

/* libev's header is written for laxer warnings than ours. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <ev.h>
#pragma GCC diagnostic pop

#include <errno.h>

#include "io/loop.h"

struct ev_loop *loop_ev(struct loop *l);

/* A read or write failed with this only because it would have waited, or was interrupted. */
static inline bool is_worth_waiting(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

#endif
