/* What leaves a controller, judged before it arrives: who may write at all, and what a write must
 * say so that it is about what was judged. */
#ifndef SIM_CHECK_SENT_H
#define SIM_CHECK_SENT_H
#include "check.h"

/* --- check_sent.c: a request, and what is on its way of it */
void check_send(struct sim *s, int replica, const struct wire_request *r);
void check_sent(struct sim *s, int replica, const struct wire_request *r, const char *body);

#endif
