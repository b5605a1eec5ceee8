/* The wire: what was asked for, in order; what ended, once. */
#ifndef IO_HTTP_INSIDE_H
#define IO_HTTP_INSIDE_H

#include "http_internal.h"

void http_call_ended(struct http_call *call, CURLcode rc); /* from the drain of a lane */
void http_deliver(struct http_client *c);

#endif
