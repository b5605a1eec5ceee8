/* What those who wait, and those who have just been placed, are told. Nothing here fails. */
#ifndef SCHEDULING_PENDING_REPORT_H
#define SCHEDULING_PENDING_REPORT_H

#include "ledger/nouns.h"

void report_waiting(struct scheduling *sched, struct emitter *out);

#endif
