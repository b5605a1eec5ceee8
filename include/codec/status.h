/* A Status of the API server as a fault: kind by code and reason, its message, retryAfterSeconds.
 */
#ifndef CODEC_STATUS_H
#define CODEC_STATUS_H

#include <stddef.h>

#include "base/fault.h"

/* `body` may be anything: what is not a Status is quoted in part (a proxy's page). `http_status` 0
 * (the object of a watch's ERROR event): the code in the body counts. Always fills *ret_fault and
 * returns -1, so that `return status_decode(...)` reads well. */
int status_decode(const char *body, size_t n, int http_status, struct fault *ret_fault);

#endif
