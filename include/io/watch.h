/* A descriptor that the loop watches for its owner: a pipe, a socket to a child, a pidfd (which is
 * readable once the process has ended).
 *
 * The watch is ours, the descriptor stays the caller's, who destroys the watch before closing it. A
 * watch may be changed or destroyed from its own callback. Single-threaded, as the loop. */
#ifndef IO_WATCH_H
#define IO_WATCH_H

#include "io/loop.h"

enum { WATCH_READ = 1, WATCH_WRITE = 2 };

/* `ready` is some of WATCH_*; an error or a hangup counts as all that was asked for. */
typedef void (*watch_fn)(void *data, unsigned ready);

struct watch;
struct watch *watch_create(struct loop *l, int fd, unsigned events, watch_fn fn, void *data);
void watch_want(struct watch *w, unsigned events); /* from now on; 0: nothing for the time being */
void watch_destroy(struct watch *w);		   /* NULL is fine */

#endif
