/* Connections of the poller: those that wait, and one connecting, asking, hearing. */
#ifndef IO_POLLER_CONN_H
#define IO_POLLER_CONN_H

#include "poller_internal.h"

/* Begins the call on a kept connection or a new one. -1: not even that can begin. */
int poller_conn_start(struct poller_call *call, struct fault *ret_fault);
/* Closes it without a word to the call, which has none any more. */
void poller_conn_close(struct poller_conn *c);
/* May what comes or goes happen now? Only these events are waited for. */
void poller_conn_watch(struct poller_conn *c, int events);
/* Nothing is in the way of its request: the secrets of both directions are known. */
void poller_conn_ready(struct poller_conn *c);
/* Closes a connection that failed; its call gets the fault, or another try. */
void poller_conn_fail(struct poller_conn *c, enum fault_kind kind, const char *why);
void poller_idle_init(struct poller *p);
void poller_idle_close_all(struct poller *p);

#endif
