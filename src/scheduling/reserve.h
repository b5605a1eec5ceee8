/* C17: GPUs that are kept for tenants which were passed over for too long. Nothing here fails. */
#ifndef SCHEDULING_RESERVE_H
#define SCHEDULING_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

#include "ledger/nouns.h"

/* It was looked for a GPU for this tenant; `lacks`: in vain, although there may be one later. */
void reserve_judge(struct scheduling *sched, struct waiter *w, bool lacks);
/* An unfinished step goes on: what those before it keep, they keep still. `from` of `chosen` were
 * given before it. */
void reserve_again(struct wholes *wholes, struct waiter *w, size_t from);
/* The walk is over: whom of the first were others preferred to, and how often? */
void reserve_count(struct scheduling *sched, size_t end);

#endif
