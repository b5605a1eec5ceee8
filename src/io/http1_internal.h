/* What the two halves of the parser share: the machine (http1.c) and the reading of a
 * complete header block (http1_head.c). */
#ifndef IO_HTTP1_INTERNAL_H
#define IO_HTTP1_INTERNAL_H

#include "io/http1.h"

/* Ends the request; always false, so that `return http1_refuse(...)` reads well. */
bool http1_refuse(struct http1 *p, int status, const char *problem);
/* No control character but the tabulator. */
bool http1_is_value(struct view v);
/* p->head holds whole lines, each ending in CRLF, the empty one included. Moves to the next phase.
 */
bool http1_head_read(struct http1 *p);

#endif
