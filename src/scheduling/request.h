/* What a tenant that waits asks for. Nothing here fails. */
#ifndef SCHEDULING_REQUEST_H
#define SCHEDULING_REQUEST_H

#include "ledger/nouns.h"

struct claims_of;

/* What it asks for, in w->asked, and its volumes; false: it gets nothing now, and has the reason.
 */
bool waiter_asks(struct scheduling *sched, struct waiter *w, struct claims_of *claims);
void waiter_asked(struct waiter *w); /* lets go of what is of this step */

#endif
