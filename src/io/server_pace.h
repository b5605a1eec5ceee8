/* Which connections run in a turn of the loop: each address has its part of it. */
#ifndef IO_SERVER_PACE_H
#define IO_SERVER_PACE_H

#include "server_internal.h"

/* May the connection be run now? Then pace_end follows, though it may be gone by then. Otherwise it
 * is run later. */
bool pace_begin(struct conn *c);
void pace_end(struct server *s);
/* Has the connection's address had its part of this turn? */
bool pace_is_over(const struct conn *c);
void pace_forget(struct conn *c);
/* `run`: what is done with a connection that waited, in its turn. */
void pace_init(struct server *s, void (*run)(struct conn *c));
void pace_finish(struct server *s);

#endif
