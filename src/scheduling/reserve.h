/* C17: GPUs that are kept for tenants which were passed over for too long. Nothing here fails. */
#ifndef SCHEDULING_RESERVE_H
#define SCHEDULING_RESERVE_H

#include "ledger/nouns.h"

/* It was looked for a GPU for this tenant; `lacks`: in vain, although there may be one later. */
void reserve_judge(struct scheduling *sched, struct waiter *w, bool lacks);
/* An unfinished step goes on: what those before it keep, they keep still. */
void reserve_again(struct wholes *wholes, struct waiter *w);
/* The walk is over: whom were others preferred to, and how often? */
void reserve_count(struct scheduling *sched, size_t first, size_t end);

#endif
