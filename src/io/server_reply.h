/* From a request to the bytes of its answer, and what is measured about it. */
#ifndef IO_SERVER_REPLY_H
#define IO_SERVER_REPLY_H

#include "server_internal.h"

/* Answers the complete request in c->in. */
void reply_to_request(struct conn *c);
/* Answers with a line of text of our own, and closes afterwards. */
void reply_refusal(struct conn *c, int status, const char *text);
/* Output has been written up to c->out_written: measures the answers that are out. */
void reply_measure(struct conn *c);
void reply_metrics_init(struct server *s);

#endif
