/* The wire: requests in order, their deadlines, and each one's end, once. */
#ifndef IO_POLLER_INSIDE_H
#define IO_POLLER_INSIDE_H

#include "poller_internal.h"

/* The call has ended: its answer or its fault is there. */
void poller_call_end(struct poller_call *call);
/* The connection under it was dead: it goes on a new one. */
void poller_call_again(struct poller_call *call);

#endif
