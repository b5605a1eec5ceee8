/* One connection: TLS or plain bytes in, requests, bytes out; every state has its deadline. */
#ifndef IO_SERVER_CONN_H
#define IO_SERVER_CONN_H

#include "server_internal.h"

/* Takes over fd, and begins with what has come. */
void conn_open(struct server *s, int fd, struct source *source);
/* Does what can be done without waiting. The connection may be gone afterwards. */
void conn_run(struct conn *c);
/* The same after the others had their turn. */
void conn_run_later(struct conn *c);
void conn_close(struct conn *c);
/* Brings the server's count of held bytes up to date. */
void conn_weigh(struct conn *c);
/* Nothing of a request has arrived and nothing is to be written. */
bool conn_is_idle(const struct conn *c);

#endif
