/* One transfer: its options, its callbacks, and what its end means. */
#ifndef IO_HTTP_CALL_H
#define IO_HTTP_CALL_H

#include "http_internal.h"

struct http_call *http_call_create(struct http_client *c, const struct wire_request *request);
int http_call_check(const struct wire_request *request, struct fault *ret_fault);
/* Makes the easy handle. The caller adds it to the lane. */
void http_call_prepare(struct http_call *call, struct http_target *t);
/* Fills in the answer from the ended transfer. */
void http_call_conclude(struct http_call *call, CURLcode rc);
/* Frees what libcurl needed. The handle must have been removed from its lane. */
void http_call_release(struct http_call *call);
void http_call_destroy(struct http_call *call);

#endif
