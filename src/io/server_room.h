/* Which connection is closed when there is no room for another. */
#ifndef IO_SERVER_ROOM_H
#define IO_SERVER_ROOM_H

#include "server_internal.h"

/* Is there room for one more connection from this address? Another may have gone for it. NULL: no.
 * The source is borrowed until its last connection closes; conn_open comes next. */
struct source *room_for_one(struct server *s, int fd);
void room_enter(struct conn *c);
void room_leave(struct conn *c);
/* A request of this connection was answered as it wished. */
void room_prove(struct conn *c);
/* All connections together hold too much: those that have taken longest are closed. False: that is
 * c itself. */
bool room_for_bytes(struct conn *c);
void room_init(struct server *s);
void room_finish(struct server *s);

#endif
